// SPDX-License-Identifier: Apache-2.0
#include "text/intent/denial.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string>
#include <vector>

#include "text/intent/clause.h"
#include "text/intent/condition.h"
#include "text/intent/cue.h"
#include "text/intent/speller.h"

namespace shoal::intent {
namespace {

// Returns whether a clause says that somebody else does it: "Peter will shut it down", "day shift
// is going to switch it off". A clause that goes on with a request does not.
bool OthersDo(const Sentence& sentence, std::size_t clause) {
  static const WordSet kRoles = {"shift",    "team",       "crew",        "colleague", "colleagues",
                                 "vendor",   "technician", "engineer",    "engineers", "people",
                                 "customer", "contractor", "electrician", "admins",    "guys",
                                 "somebody", "someone",    "they",        "he",        "she"};
  static const WordSet kNobody = {"it",   "this", "that",   "server", "machine", "box",  "host",
                                  "node", "you",  "system", "which",  "what",    "we",   "i",
                                  "who",  "all",  "both",   "there",  "these",   "those"};
  static const WordSet kRequests = {"please", "pls",  "kindly", "so",    "must",
                                    "need",   "want", "should", "could", "can"};
  static const Cue kWill("will|ll|is going to|are going to|is about to|are about to");
  static const Cue kDoing("is doing|are doing|is handling|are handling|is taking care of");
  static const Cue kDeeds(
      "shut|power|turn|switch|stop|halt|mirror|convert|reset|restore|revert|flash|update|upgrade|"
      "delete|wipe|erase");
  const std::vector<Token>& tokens = sentence.tokens();
  std::size_t first = 0;
  while (first < tokens.size() && tokens[first].clause != clause) ++first;
  // The text of a token without what an apostrophe joins to it: "they" of "they'll".
  const auto name_of = [](const Token& token) {
    return absl::AsciiStrToLower(token.text.substr(0, token.text.find('\'')));
  };
  const auto is_subject = [&](std::size_t end) {
    constexpr std::size_t kLongest = 4;
    if (end <= first || end - first > kLongest) return false;
    for (std::size_t at = first; at < end; ++at) {
      if (kRoles.contains(name_of(tokens[at]))) return true;
    }
    const std::string name = name_of(tokens[first]);
    return end == first + 1 && !kNobody.contains(name) &&
           std::all_of(name.begin(), name.end(), absl::ascii_islower);
  };
  const auto asks_behind = [&](std::size_t word) {
    for (; word < sentence.words().size() && sentence.ClauseOf(word) == clause; ++word) {
      if (kRequests.contains(LowerTextOf(tokens, sentence.TokenOf(word)))) return true;
    }
    return false;
  };
  const auto says = [&](const Cue& cue, bool changes) {
    const std::vector<CueMatch> all = cue.FindAll(sentence);
    return std::any_of(all.begin(), all.end(), [&](const CueMatch& match) {
      if (sentence.ClauseOf(match.begin) != clause || asks_behind(match.end)) return false;
      const std::size_t token = sentence.TokenOf(match.begin);
      const bool is_joined = tokens[token].first_word < match.begin;
      if (!is_subject(is_joined ? token + 1 : token)) return false;
      const std::vector<CueMatch> deeds = kDeeds.FindAll(sentence);
      return !changes || std::any_of(deeds.begin(), deeds.end(), [&](const CueMatch& deed) {
        return deed.begin == match.end && sentence.ClauseOf(deed.begin) == clause;
      });
    });
  };
  return says(kWill, true) || says(kDoing, false);
}

// Returns whether a clause denies the one command that it names: "there is no need to flash it",
// "you must not reset the BIOS". "Do not hesitate to" and "do not .. but .." deny none.
bool DeniesCommand(const Sentence& sentence, std::size_t clause) {
  static const Cue kNeedless(
      "forbidden to|prohibited to|not want you to|don t want you to|not want the|don t want the|no "
      "need * to|not necessary to|not need to|not have to|not require to|not allow to|"
      "no reason * to|never asked * to|not asked * to|nobody say * should|nobody said * should|"
      "nobody asked * to|no circumstance|no account|no means");
  static const Cue kForbidden(
      "do not|don t|dont|did not|didn t|do not you dare|don t you dare|never|must not|shall "
      "not|should not|"
      "may not|must not be|shall not be|should not be|may not be|cannot|can not|nobody may|"
      "nobody must|nobody should|no one may");
  static const Cue kChanging(
      "shut|power|turn|switch|stop|halt|mirror|build|make|create|convert|reset|restore|revert|"
      "flash|update|upgrade|install|apply|load|delete|remove|wipe|erase|replace");
  static const Cue kContrast(
      "but|instead|rather|only|unless|until|without|forget|hesitate|fail|delay|stay|remain|left|"
      "keep|longer");
  const auto inside = [&](const Cue& cue) {
    std::vector<CueMatch> all = cue.FindAll(sentence);
    std::erase_if(all, [&](const CueMatch& one) { return sentence.ClauseOf(one.begin) != clause; });
    return all;
  };
  if (!inside(kContrast).empty()) return false;
  // "We do not want a RAID1"
  static const Cue kUnwanted(
      "not want|don t want|not need|don t need|not wish|don t wish for|nobody want|nobody need|"
      "no one want|no one need|not ask for|never ask for|not order|never order");
  static const Cue kThings(
      "raid1|raid 1|mirror|bios|firmware|shutdown|shut down|reset|update|upgrade|default");
  constexpr std::size_t kReach = 3;
  const std::vector<CueMatch> unwanted = inside(kUnwanted);
  const std::vector<CueMatch> things = inside(kThings);
  for (const CueMatch& no : unwanted) {
    for (const CueMatch& thing : things) {
      if (thing.begin >= no.end && thing.begin <= no.end + kReach) return true;
    }
  }
  const std::vector<CueMatch> changing = inside(kChanging);
  const auto denies = [&](const Cue& denial, bool is_close) {
    const std::vector<CueMatch> all = inside(denial);
    return std::any_of(all.begin(), all.end(), [&](const CueMatch& no) {
      const bool is_second = std::any_of(changing.begin(), changing.end(),
                                         [&](const CueMatch& one) { return one.end <= no.begin; });
      return !is_second && std::any_of(changing.begin(), changing.end(), [&](const CueMatch& one) {
        return is_close ? one.begin == no.end : one.begin >= no.end;
      });
    });
  };
  // "I was about to shut it down", but not "I was going to ask you"
  static const Cue kIntended(
      "was about to|were about to|was going to|were going to|could have|should have|might have|"
      "would have|ought to have|i will|i ll|we will|we ll|i shall|he will|she will|they will");
  return denies(kNeedless, false) || denies(kForbidden, true) || denies(kIntended, true);
}

// Returns whether a word tells of a deed in the past: "deleted", "made".
bool IsPastVerb(const std::string& word) {
  static const WordSet kPast = {"made",  "gave", "set", "put",  "took", "lit",
                                "built", "did",  "got", "shut", "reset"};
  static const WordSet kUnfinished = {"need", "needed", "wanted", "asked", "noticed", "want"};
  return (word.ends_with("ed") && !kUnfinished.contains(word)) || kPast.contains(word);
}

// Returns whether a clause reports what somebody did or what happened: "somebody deleted user x7",
// "the server shut down last night". `goes_on` says that the clause before is a report; then
// "enabled y8" is one, too.
bool Reports(const Sentence& sentence, std::size_t clause, bool goes_on) {
  static const WordSet kSubjects = {"somebody", "someone", "we", "i", "they", "he", "she"};
  static const WordSet kOwners = {"the", "our", "my", "this", "that", "it", "a"};
  static const WordSet kRequests = {"please", "pls", "must",  "should", "to", "so",
                                    "want",   "it",  "again", "shall",  "can"};
  static const Cue kTimes("last night|yesterday|last week|last month|this morning|ago");
  const std::vector<Token>& tokens = sentence.tokens();
  std::size_t first = 0;
  while (first < tokens.size() && tokens[first].clause != clause) ++first;
  std::size_t end = first;
  bool requests = false;
  for (; end < tokens.size() && tokens[end].clause == clause; ++end) {
    requests |= end > first && kRequests.contains(LowerTextOf(tokens, end));
  }
  if (first == end || requests) return false;
  const auto is_past = [&tokens](std::size_t at) { return IsPastVerb(LowerTextOf(tokens, at)); };
  const std::string word = LowerTextOf(tokens, first);
  if (goes_on && is_past(first + (word == "and" ? 1 : 0))) return true;
  // "We already flashed it", "yesterday at night I turned it on"
  static const WordSet kAdverbs = {"already", "just", "have", "has", "had", "also", "myself"};
  static const WordSet kDays = {"yesterday", "earlier", "this", "last"};
  static const WordSet kHours = {"yesterday", "earlier", "morning", "afternoon", "night",
                                 "week",      "month",   "evening", "today",     "at"};
  std::size_t subject = first;
  if (kDays.contains(word)) {
    ++subject;
    while (kHours.contains(LowerTextOf(tokens, subject))) ++subject;
  }
  std::size_t verb = subject + 1;
  while (kAdverbs.contains(LowerTextOf(tokens, verb))) ++verb;
  if (kSubjects.contains(LowerTextOf(tokens, subject)) && is_past(verb)) return true;
  // "After the drill somebody powered it off"
  for (std::size_t at = first; at + 1 < end; ++at) {
    const std::string who = LowerTextOf(tokens, at);
    if ((who == "somebody" || who == "someone") && is_past(at + 1)) return true;
  }
  const std::vector<CueMatch> times = kTimes.FindAll(sentence);
  return kOwners.contains(word) &&
         std::any_of(times.begin(), times.end(),
                     [&](const CueMatch& time) { return time.end == tokens[end - 1].end_word; });
}

// Returns whether a clause only tells of a button or the like: "the shutdown button is broken".
bool TellsOfControl(const Sentence& sentence, std::size_t clause) {
  static const WordSet kOwners = {"the", "our", "your", "my", "this", "that", "a"};
  static const WordSet kControls = {"button", "link", "menu", "page", "dialog"};
  static const WordSet kJoints = {"so", "and", "but", "hence", "therefore", "it"};
  bool is_first = true;
  bool names_control = false;
  for (const Token& token : sentence.tokens()) {
    if (token.clause != clause) continue;
    const std::string text = absl::AsciiStrToLower(token.text);
    if ((is_first && !kOwners.contains(text)) || kJoints.contains(text)) return false;
    is_first = false;
    names_control |= kControls.contains(text);
  }
  return names_control && IsBackground(sentence, clause);
}

// Returns whether a clause tells that something was done: "the shutdown was done yesterday".
bool TellsDone(const Sentence& sentence, std::size_t clause) {
  static const Cue kDone(
      "was done|were done|been done|was made|were made|been made|was perform|were perform|been "
      "perform|was carry out|were carry out|been carry out|was carried out|been carried out|was "
      "complete|were complete|been complete|was execute|were execute|been execute|was finish|been "
      "finish|was install|were install|been install|was flash|been flash|was reset|been reset|was "
      "shut|been shut|was update|been update|was delete|were delete|been delete|was mirror|were "
      "mirror|been mirror|was set|been set");
  if (!IsBackground(sentence, clause)) return false;
  const std::vector<CueMatch> all = kDone.FindAll(sentence);
  return std::any_of(all.begin(), all.end(), [&](const CueMatch& match) {
    return sentence.ClauseOf(match.begin) == clause && !IsNegated(sentence, match.begin);
  });
}

// Returns whether a clause tells what should have come about: "it should be off by now".
bool ExpectsDone(const Sentence& sentence, std::size_t clause) {
  static const Cue kExpected(
      "should * by now|ought * by now|must * by now|supposed * by now|should * by this time|should "
      "* long since|should * long ago|should by now|ought by now");
  static const WordSet kAsking = {"please", "pls", "kindly", "want", "need"};
  const std::vector<CueMatch> all = kExpected.FindAll(sentence);
  const bool is_said = std::any_of(all.begin(), all.end(), [&](const CueMatch& match) {
    return sentence.ClauseOf(match.begin) == clause;
  });
  const std::vector<Token>& tokens = sentence.tokens();
  return is_said && std::none_of(tokens.begin(), tokens.end(), [&](const Token& token) {
           return token.clause == clause &&
                  (token.before_colon || kAsking.contains(absl::AsciiStrToLower(token.text)));
         });
}

// Returns whether a clause begins the sentence with "keep" or "leave", or any clause says so of
// what was named before: "keep the server running", "Telnet is open. Please leave it on."
bool Keeps(const Sentence& sentence, std::size_t clause) {
  static const WordSet kBefore = {"please", "pls", "kindly", "just", "do"};
  static const WordSet kNamed = {"it", "that", "this", "them"};
  const std::vector<Token>& tokens = sentence.tokens();
  std::size_t at = 0;
  while (at < tokens.size() && tokens[at].clause != clause) ++at;
  const bool is_first = at == 0;
  while (at < tokens.size() && tokens[at].clause == clause &&
         kBefore.contains(LowerTextOf(tokens, at))) {
    ++at;
  }
  if (at >= tokens.size() || tokens[at].clause != clause) return false;
  const std::string verb = LowerTextOf(tokens, at);
  return (verb == "keep" || verb == "leave") &&
         (is_first || kNamed.contains(LowerTextOf(tokens, at + 1)));
}

// Returns whether a clause tells what somebody says to have done: "Derek told me he lit the LED".
bool TellsOfOthers(const Sentence& sentence, std::size_t clause) {
  static const Cue kTold(
      "told me he|told me she|told me they|tell me he|tell me she|tell me they|said he|said she|"
      "said they|say he|say she|say they|told us he|told us she|told us they|tell us he|tell us "
      "she|tell us they");
  static const WordSet kAuxiliaries = {"has", "had", "have", "already", "just", "also"};
  static const WordSet kAsking = {"please", "pls", "must", "should", "want", "shall", "need"};
  // "So the vendor could find it", but not "so shut it down"
  static const WordSet kBehindSo = {"it", "he", "she", "they", "the", "that", "we", "i", "nobody"};
  const std::vector<Token>& tokens = sentence.tokens();
  const std::vector<CueMatch> all = kTold.FindAll(sentence);
  return std::any_of(all.begin(), all.end(), [&](const CueMatch& match) {
    if (sentence.ClauseOf(match.begin) != clause) return false;
    std::size_t verb = sentence.TokenOf(match.end - 1) + 1;
    while (kAuxiliaries.contains(LowerTextOf(tokens, verb))) ++verb;
    bool asks = false;
    for (std::size_t at = verb; at < tokens.size() && tokens[at].clause == clause; ++at) {
      const std::string word = LowerTextOf(tokens, at);
      asks |= kAsking.contains(word) ||
              (word == "so" && !kBehindSo.contains(LowerTextOf(tokens, at + 1)));
    }
    return !asks && IsPastVerb(LowerTextOf(tokens, verb));
  });
}

}  // namespace

bool TakesBack(const Sentence& sentence) {
  static const Cue kBack(
      "only asking|just asking|wait no|disregard|disregard that|disregard this|scratch "
      "that|scratch this|"
      "cancel that|cancel this|ignore that|ignore this|ignore me|strike "
      "that|forget that|"
      "forget this|stand down|hold off|actually no|actually do not|actually don t|no do not|take "
      "it back|"
      "no don t|better not|rather not|not yet|wrong window|wrong ticket|wrong server|wrong chat|"
      "wrong channel|not today|not now|not this week|not tonight");
  static const WordSet kStates = {"is", "are", "was", "were", "has", "have", "does", "did"};
  static const WordSet kFears = {"not",    "no",     "never", "avoid", "fear",
                                 "afraid", "before", "lest",  "from",  "nobody",
                                 "risk",   "don't",  "worry", "front", "instead"};
  const auto is_inside = [&sentence](std::size_t word, std::size_t match) {
    return sentence.ClauseOf(word) == sentence.ClauseOf(match);
  };
  // "Telnet is not yet" and "before I open the wrong server" take nothing back.
  const auto only_tells = [&](const CueMatch& match) {
    std::size_t before = match.begin;
    if (sentence.TextAt(match.begin) == "not") {
      return before > 0 && is_inside(before - 1, before) &&
             kStates.contains(sentence.TextAt(before - 1));
    }
    if (sentence.TextAt(match.end - 1) != "server") return false;
    while (before > 0 && is_inside(before - 1, match.begin)) {
      if (kFears.contains(sentence.TextAt(--before))) return true;
    }
    return false;
  };
  const std::vector<CueMatch> all = kBack.FindAll(sentence);
  return std::any_of(all.begin(), all.end(), [&](const CueMatch& match) {
    const bool ends_clause = match.end == sentence.words().size() ||
                             !is_inside(match.end, match.end - 1) ||
                             sentence.tokens()[sentence.TokenOf(match.end - 1)].before_colon;
    return ends_clause && !only_tells(match);
  });
}

bool DeniesAll(const Sentence& sentence) {
  const std::vector<Token>& tokens = sentence.tokens();
  bool denies = false;
  bool reports = false;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    const std::size_t clause = tokens[begin].clause;
    while (end < tokens.size() && tokens[end].clause == clause) ++end;
    const bool is_polite = IsPolite(sentence, clause) || IsRemark(sentence, begin);
    reports = Reports(sentence, clause, reports);
    const bool denies_it = reports || DeniesCommand(sentence, clause) ||
                           OthersDo(sentence, clause) || TellsOfOthers(sentence, clause) ||
                           TellsOfControl(sentence, clause) || TellsDone(sentence, clause) ||
                           ExpectsDone(sentence, clause) || Keeps(sentence, clause);
    if (!is_polite && !denies_it && !IsBackground(sentence, clause)) return false;
    denies |= denies_it;
    begin = end;
  }
  return denies;
}

}  // namespace shoal::intent
