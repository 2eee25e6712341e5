// SPDX-License-Identifier: Apache-2.0
#include "text/intent/request.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "text/intent/cue.h"
#include "text/intent/speller.h"

namespace shoal::intent {
namespace {

// Returns the text of a token in lower case; nothing past the end.
std::string LowerTextOf(const std::vector<Token>& tokens, std::size_t at) {
  return at < tokens.size() ? absl::AsciiStrToLower(tokens[at].text) : std::string();
}

// Returns whether a clause tells of what has been.
bool IsPast(const Sentence& sentence, std::size_t clause) {
  static const WordSet kPast = {"was",    "were", "had",  "did",  "went",
                                "failed", "lost", "died", "broke"};
  const std::vector<Token>& tokens = sentence.tokens();
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.clause == clause && kPast.contains(absl::AsciiStrToLower(token.text));
  });
}

// Returns whether "as soon as" begins at a token and waits for something: not "as soon as you can".
bool BeginsWait(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kAsking = {"possible", "convenient", "you"};
  return LowerTextOf(tokens, at) == "as" && LowerTextOf(tokens, at + 1) == "soon" &&
         !kAsking.contains(LowerTextOf(tokens, at + 3));
}

// Returns whether "if" at a token only begins a way to ask, as in "if you can", "if it is off" and
// "if somebody would", and not what has to happen first, as in "if you see smoke" and "if it
// beeps".
bool IsWayToAsk(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kAsking = {"possible", "it's", "its", "need",      "so",
                                  "needed",   "may",  "not", "necessary", "that's"};
  static const WordSet kThings = {"it", "that", "this", "he"};
  static const WordSet kStates = {"is",    "isn't", "isnt",  "was", "takes", "means",
                                  "works", "suits", "could", "can", "would"};
  static const WordSet kAnybody = {"somebody", "someone", "anybody", "anyone"};
  static const WordSet kModals = {"could", "can", "would"};
  static const WordSet kSpeakers = {"you", "we", "i"};
  static const WordSet kEvents = {"see",   "hear", "notice", "find",  "receive", "detect",
                                  "smell", "call", "lose",   "say",   "tell",    "fail",
                                  "don't", "dont", "do",     "agree", "cannot",  "are"};
  const std::string next = LowerTextOf(tokens, at + 1);
  const std::string third = LowerTextOf(tokens, at + 2);
  // "If you do not mind"
  const bool minds = LowerTextOf(tokens, at + 3) == "mind" || LowerTextOf(tokens, at + 4) == "mind";
  if (next == "any") return at + 2 >= tokens.size() || tokens[at + 2].clause != tokens[at].clause;
  return kAsking.contains(next) || (kThings.contains(next) && kStates.contains(third)) ||
         (kAnybody.contains(next) && kModals.contains(third)) ||
         (kSpeakers.contains(next) && (!kEvents.contains(third) || minds));
}

// Returns the end of a cue's match that begins at a word; nothing where none does.
std::optional<std::size_t> EndOfMatchAt(const Sentence& sentence, const Cue& cue,
                                        std::size_t word) {
  for (const CueMatch& match : cue.FindAll(sentence)) {
    if (match.begin == word) return match.end;
  }
  return std::nullopt;
}

// Returns what a writer says of having erred.
const Cue& Mistakes() {
  static const Cue kMistakes(
      "i am mistaken|i m mistaken|i am wrong|i m wrong|i err|i misread it|i misread this|i "
      "misread|i miss something|i am missing something|i m missing something");
  return kMistakes;
}

// Returns whether the condition at a token is about what the writer believes, about somebody's time
// or about a restart on the way, and not about the command: "unless I am mistaken", "if time
// permits", "reboot if required", ".. If a restart is needed, do that too". "Unless it already is"
// waits for nothing either.
bool IsRemark(const Sentence& sentence, std::size_t at) {
  static const Cue kBeliefs(
      "i am not mistaken|i m not mistaken|i am not wrong|i m not wrong|i am right|i m right|i read "
      "it right|i read this right|i read that right|i read it correctly|i read this correctly|i "
      "see it right|i see this right|i see it correctly|i see correctly|i remember right|i "
      "remember correctly|i recall correctly|i understood correctly|memory serves");
  static const Cue kDone("it already is|it already has|that is already so|it is already so");
  static const Cue kTimes(
      "time permits|time allows|there is time|there s time|you have time|you have the time|"
      "you have a minute|you have a moment|you find a minute|you find a moment|you find time|"
      "you find the time|you are free|you re free|you are around|you re around|you are there|"
      "you are not busy|you re not busy|somebody has a minute|somebody has time|someone has a "
      "minute|someone has time|anybody has a minute|anybody has time|anyone has a minute|anyone "
      "has time|somebody is around|someone is around|anybody is around|anyone is around|"
      "convenient|feasible|it matters|that matters|you wonder|"
      "you wondered|you ask|anybody asks|anyone asks|that is possible|it is possible|this is "
      "possible|that is all right|that is ok|that is okay|that is fine|that was all|this was all|"
      "that is all");
  static const Cue kRestarts(
      "a restart is need|a reboot is need|a restart is require|a reboot is require|a restart is "
      "necessary|a reboot is necessary|it need a restart|it need a reboot|that need a restart|"
      "that need a reboot|it require a restart|it require a reboot|that require a restart|"
      "that require a reboot");
  static const WordSet kRestarting = {"restart", "reboot", "restarting", "rebooting"};
  static const WordSet kAllowing = {"do", "go", "please", "then", "reboot", "restart", "so"};
  static const WordSet kGoesOn = {"please", "could", "can", "would"};
  const std::vector<Token>& tokens = sentence.tokens();
  const std::string word = LowerTextOf(tokens, at);
  std::size_t from = at + (word == "in" ? 2 : word == "as" ? 3 : 1);
  if (from >= tokens.size()) return false;
  const auto ends_clause = [&](std::size_t end) {
    return end == sentence.words().size() || sentence.ClauseOf(end) != sentence.ClauseOf(end - 1);
  };
  const auto done = EndOfMatchAt(sentence, kDone, tokens[from].first_word);
  if (done && word == "unless" && ends_clause(*done)) return true;
  for (const std::size_t token : {from, from + 1}) {
    if (token >= tokens.size() || (token > from && LowerTextOf(tokens, from) != "that")) break;
    const auto believes =
        EndOfMatchAt(sentence, word == "unless" ? Mistakes() : kBeliefs, tokens[token].first_word);
    if (believes && (ends_clause(*believes) || sentence.TextAt(*believes) != "about")) return true;
    const auto time = EndOfMatchAt(sentence, kTimes, tokens[token].first_word);
    if (time && word != "unless" &&
        (ends_clause(*time) || kGoesOn.contains(sentence.TextAt(*time)))) {
      return true;
    }
  }
  if (word != "if") return false;
  if (LowerTextOf(tokens, from) == "required" && at > 0) {
    return ends_clause(tokens[from].end_word) && kRestarting.contains(LowerTextOf(tokens, at - 1));
  }
  if (at == 0 || tokens[at - 1].clause == tokens[at].clause) return false;
  if (!EndOfMatchAt(sentence, kRestarts, tokens[from].first_word)) return false;
  while (from < tokens.size() && tokens[from].clause == tokens[at].clause) ++from;
  static const WordSet kForbidding = {"not", "nothing", "n't", "no"};
  return kAllowing.contains(LowerTextOf(tokens, from)) &&
         !kForbidding.contains(LowerTextOf(tokens, from + 1)) &&
         !kForbidding.contains(LowerTextOf(tokens, from + 2));
}

// Returns whether "when the alarm sounds" or the like begins at a token behind a command. "Boot the
// disk first when the server starts", "accepted when the lamp shines" and, of a step before, "and
// log out once the tag is set" have none.
bool BeginsOccasion(const Sentence& sentence, std::size_t at) {
  static const WordSet kWaiting = {"when", "once"};
  static const WordSet kArticles = {"the", "an", "a", "our", "my", "all", "everybody", "everyone"};
  static const WordSet kOwn = {"server", "machine", "host", "box", "node", "system", "computer"};
  static const WordSet kTelling = {
      "is",     "are",  "has",    "have",    "stays",   "shows",      "not",      "even",
      "only",   "must", "should", "shall",   "done",    "proof",      "accepted", "before",
      "ahead",  "that", "which",  "whoever", "because", "acceptance", "always",   "complete",
      "proven", "so",   "as",     "will",    "success"};
  static const WordSet kEvents = {
      "sounds", "rings",  "beeps",   "fails", "comes",    "calls",     "arrives", "complains",
      "ends",   "agrees", "leaves",  "dies",  "finishes", "completes", "breaks",  "trips",
      "drops",  "rises",  "exceeds", "falls", "reaches",  "signals",   "opens",   "closes",
      "goes",   "alarms", "asks",    "says",  "tells",    "agree",     "leave",   "come"};
  static const WordSet kStates = {"is", "are", "has", "have"};
  constexpr std::size_t kReach = 4;
  const std::vector<Token>& tokens = sentence.tokens();
  const std::size_t clause = tokens[at].clause;
  const auto is_inside = [&](std::size_t token) {
    return token < tokens.size() && tokens[token].clause == clause;
  };
  if (at == 0 || !is_inside(at - 1) || !is_inside(at + 1) ||
      !kWaiting.contains(LowerTextOf(tokens, at)) ||
      !kArticles.contains(LowerTextOf(tokens, at + 1)) ||
      kOwn.contains(LowerTextOf(tokens, at + 2)) || IsPast(sentence, clause)) {
    return false;
  }
  bool is_event = false;
  bool is_state = false;
  for (std::size_t after = at + 2; after <= at + kReach && is_inside(after); ++after) {
    is_event |= kEvents.contains(LowerTextOf(tokens, after));
    is_state |= kStates.contains(LowerTextOf(tokens, after));
  }
  bool is_only = clause == tokens.front().clause && clause == tokens.back().clause;
  while (at > 0 && is_inside(at - 1)) {
    const std::string before = LowerTextOf(tokens, --at);
    if (kTelling.contains(before)) return false;
    is_only &= before != "and" && before != "then";
  }
  return is_event || (is_state && is_only);
}

// Returns whether the clause says before a token how welcome something would be, or how to tell
// success: "it would be great if the lamp were lit", "accepted if it shines", "even if it takes
// long".
bool IsWelcomed(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kWelcome = {"appreciate", "grateful", "great", "nice",     "obliged",
                                   "love",       "even",     "okay",  "ok",       "would",
                                   "make",       "makes",    "glad",  "happy",    "thankful",
                                   "kind",       "mind",     "help",  "accepted", "done"};
  while (at > 0 && tokens[at - 1].clause == tokens[at].clause) {
    if (kWelcome.contains(LowerTextOf(tokens, --at))) return true;
  }
  return false;
}

// Returns whether a condition begins at a token. "If you can" and "if it is off" are ways to ask.
bool BeginsCondition(const Sentence& sentence, std::size_t at) {
  static const WordSet kSubjects = {"the", "they", "they're", "theyre", "i'm", "im", "i've"};
  static const WordSet kJoints = {"so", "and", "but", "then", "or", "only"};
  const std::vector<Token>& tokens = sentence.tokens();
  const std::string word = LowerTextOf(tokens, at);
  const std::string next = LowerTextOf(tokens, at + 1);
  if (IsRemark(sentence, at)) return false;
  if (word == "unless") return true;
  // "Only after I say so"
  static const WordSet kPeople = {"i", "we", "you", "he", "she", "they"};
  const std::string before = at == 0 ? "" : LowerTextOf(tokens, at - 1);
  const bool is_wait =
      (before == "only" && word == "after") || (before == "wait" && word == "until");
  if (is_wait && kPeople.contains(next)) return true;
  if (word == "when" && next != "the") return kSubjects.contains(next);
  const bool is_first = at == 0 || tokens[at - 1].clause != tokens[at].clause ||
                        kJoints.contains(LowerTextOf(tokens, at - 1));
  if (word == "if") {
    if (at + 1 < tokens.size() &&
        EndOfMatchAt(sentence, Mistakes(), tokens[at + 1].first_word).has_value()) {
      return true;
    }
    return !IsWayToAsk(tokens, at) && (is_first || (next != "there" && !IsWelcomed(tokens, at)));
  }
  if (!is_first) return false;
  static const WordSet kOrigins = {"by", "with", "in", "at", "here", "below", "above"};
  // "Should be on" has no subject that a condition would have.
  static const WordSet kVerbs = {"be", "read", "show", "run", "become", "stay"};
  return ((word == "provided" || word == "assuming") && !kOrigins.contains(next)) ||
         (word == "once" && kSubjects.contains(next) &&
          tokens[at + 1].clause == tokens[at].clause) ||
         (word == "in" && next == "case" && LowerTextOf(tokens, at + 2) != "of") ||
         (word == "when" && !IsPast(sentence, tokens[at].clause)) ||
         (word == "should" && at == 0 && !kVerbs.contains(next) && !sentence.has_question());
}

// Returns whether a token begins the name of a time to come.
bool BeginsLaterTime(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kTimes = {"monday",   "tuesday", "wednesday", "thursday", "friday",
                                 "saturday", "sunday",  "week",      "month"};
  const std::string word = LowerTextOf(tokens, at);
  const std::string next = LowerTextOf(tokens, at + 1);
  return word == "tomorrow" || word == "tonight" ||
         ((word == "next" || word == "on") && kTimes.contains(next));
}

// Returns whether a clause ends with a retraction: "scratch that", "just asking". "Cancel that
// account" and "we only ask you to" are none.
bool TakesBack(const Sentence& sentence) {
  static const Cue kBack(
      "only asking|just asking|wait no|disregard|disregard that|disregard this|scratch "
      "that|scratch this|"
      "cancel that|cancel this|ignore that|ignore this|ignore me|strike that|forget that|"
      "forget this|stand down|hold off|actually no|actually do not|actually don t|no do not|take "
      "it back|"
      "no don t|better not|rather not|not yet|wrong window|wrong ticket|wrong server|wrong chat|"
      "wrong channel");
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
    const bool ends_clause =
        match.end == sentence.words().size() || !is_inside(match.end, match.end - 1);
    return ends_clause && !only_tells(match);
  });
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
  return denies(kNeedless, false) || denies(kForbidden, true);
}

// Returns whether a clause reports what somebody did or what happened: "somebody deleted user x7",
// "the server shut down last night". `goes_on` says that the clause before is a report; then
// "enabled y8" is one, too.
bool Reports(const Sentence& sentence, std::size_t clause, bool goes_on) {
  static const WordSet kSubjects = {"somebody", "someone", "we", "i", "they", "he", "she"};
  static const WordSet kOwners = {"the", "our", "my", "this", "that", "it", "a"};
  static const WordSet kPast = {"made",  "gave", "set", "put",  "took",
                                "built", "did",  "got", "shut", "reset"};
  static const WordSet kUnfinished = {"need", "needed", "wanted", "asked", "noticed", "want"};
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
  const auto is_past = [&tokens](std::size_t at) {
    const std::string word = LowerTextOf(tokens, at);
    return (word.ends_with("ed") && !kUnfinished.contains(word)) || kPast.contains(word);
  };
  const std::string word = LowerTextOf(tokens, first);
  if (goes_on && is_past(first + (word == "and" ? 1 : 0))) return true;
  if (kSubjects.contains(word) && is_past(first + 1)) return true;
  // "After the drill somebody powered it off"
  for (std::size_t at = first; at + 1 < end; ++at) {
    const std::string subject = LowerTextOf(tokens, at);
    if ((subject == "somebody" || subject == "someone") && is_past(at + 1)) return true;
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

// Returns whether every clause denies what it names, reports what was done, tells how things are or
// is only polite or a remark, and one denies, reports or tells of a button or the like.
bool DeniesAll(const Sentence& sentence) {
  static const WordSet kPolite = {"please", "pls", "thanks", "thank", "you", "hi", "hello", "no"};
  const std::vector<Token>& tokens = sentence.tokens();
  bool denies = false;
  bool reports = false;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    bool is_polite = true;
    for (; end < tokens.size() && tokens[end].clause == tokens[begin].clause; ++end) {
      is_polite &= kPolite.contains(LowerTextOf(tokens, end));
    }
    is_polite |= IsRemark(sentence, begin);
    const std::size_t clause = tokens[begin].clause;
    reports = Reports(sentence, clause, reports);
    const bool denies_it =
        reports || DeniesCommand(sentence, clause) || TellsOfControl(sentence, clause);
    if (!is_polite && !denies_it && !IsBackground(sentence, clause)) return false;
    denies |= denies_it;
    begin = end;
  }
  return denies;
}

}  // namespace

bool SpeaksOfServer(const Sentence& sentence) {
  static const Cue kServer(
      "system|server|machine|box|boxes|host|node|computer|unit|hardware|chassis|enclosure");
  return kServer.Find(sentence).has_value();
}

bool AsksForNoChange(const Sentence& sentence) {
  static const Cue kAlone(
      "like to know|want to know|inform * whether|tell * whether|know whether|wonder whether|ask "
      "whether|check whether|see "
      "whether|"
      "would be wrong|would be a mistake|would be bad|decide against|"
      "decided against|advise against|refrain from|regret|was dropped|were dropped|"
      "leave * as it|leave * as they|leave * as is|leave * alone|leave * untouched|keep * as it|"
      "keep * as is|keep * untouched|do not touch|do not change");
  static const WordSet kTelling = {"explain", "describe", "list", "print", "check",   "read",
                                   "count",   "keep",     "why",  "who",   "whoever", "whether"};
  static const WordSet kPolite = {"please", "pls",    "plz", "can", "could", "you",
                                  "would",  "kindly", "hi",  "hey", "hello"};
  static const Cue kUndecided(
      "forget what|some day|talk about it|perhaps not|or maybe|maybe not|must think|think still|"
      "come back to you|no action|do nothing|just curious|never mind|nevermind|no wait|forget it|"
      "change my mind|second thought|take that back|meant for someone|"
      "meant for somebody|hold off on");
  if (sentence.is_question() || kUndecided.Find(sentence) || TakesBack(sentence) ||
      DeniesAll(sentence)) {
    return true;
  }
  const std::vector<Token>& tokens = sentence.tokens();
  if (tokens.front().clause != tokens.back().clause) return false;
  if (kAlone.Find(sentence)) return true;
  // "Let the LED blink so that I find out which one it is" asks for more.
  static const Cue kLearning("look up|read up|find out");
  static const WordSet kPurposes = {"so", "because", "since", "as", "for", "that", "and", "until"};
  const std::optional<CueMatch> learning = kLearning.Find(sentence);
  if (learning && std::none_of(tokens.begin(), tokens.end(), [&](const Token& token) {
        return token.first_word < learning->begin &&
               kPurposes.contains(absl::AsciiStrToLower(token.text));
      })) {
    return true;
  }
  const auto verb = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) {
    return !kPolite.contains(absl::AsciiStrToLower(token.text));
  });
  return verb != tokens.end() && kTelling.contains(absl::AsciiStrToLower(verb->text));
}

bool IsSurroundings(const Sentence& sentence, std::size_t at) {
  static const WordSet kOccasions = {"before", "after", "because", "since", "due", "during",
                                     "while",  "when",  "until",   "for",   "as",  "so"};
  constexpr std::size_t kReach = 5;
  for (std::size_t back = 1; back <= kReach && back <= at; ++back) {
    if (sentence.ClauseOf(at - back) != sentence.ClauseOf(at)) return false;
    if (kOccasions.contains(sentence.TextAt(at - back))) return true;
  }
  return false;
}

bool IsBackground(const Sentence& sentence, std::size_t clause) {
  static const WordSet kTelling = {
      "is",   "are",   "was",    "were",  "am",      "has",    "had",    "been",     "we",
      "i",    "says",  "said",   "told",  "keeps",   "kept",   "cannot", "cant",     "can't",
      "wont", "won't", "lost",   "broke", "failed",  "died",   "nobody", "somebody", "someone",
      "they", "sits",  "stands", "lies",  "doesn't", "doesnt", "hates",  "hate",     "makes"};
  static const WordSet kAsking = {"please", "pls",  "plz",   "kindly", "must",   "should",
                                  "shall",  "need", "needs", "want",   "wants",  "would",
                                  "could",  "can",  "let",   "make",   "ensure", "wish"};
  bool tells = false;
  bool is_first = true;
  for (const Token& token : sentence.tokens()) {
    if (token.clause != clause) continue;
    const std::string text = absl::AsciiStrToLower(token.text);
    if (kAsking.contains(text)) return false;
    tells |= kTelling.contains(text) || (is_first && text.ends_with("ing"));
    is_first = false;
  }
  return tells;
}

bool TellsOfPast(const Sentence& sentence, std::size_t clause) {
  static const WordSet kAsking = {"please", "must", "should", "shall", "need", "want", "would"};
  static const WordSet kObjects = {"the", "a", "an", "it", "our", "my", "all"};
  const std::vector<Token>& tokens = sentence.tokens();
  if (IsBackground(sentence, clause)) return true;
  bool tells = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].clause != clause) continue;
    const std::string text = LowerTextOf(tokens, i);
    if (kAsking.contains(text)) return false;
    tells |= i > 0 && text.ends_with("ed") && tokens[i - 1].clause == clause &&
             kObjects.contains(LowerTextOf(tokens, i + 1));
  }
  return tells;
}

bool AsksForLater(const Sentence& sentence, const GoalSentence& goal) {
  static const WordSet kReasons = {"before", "because", "since", "by", "until", "for"};
  constexpr std::size_t kReach = 3;
  const std::vector<Token>& tokens = sentence.tokens();
  // "Eject the image as soon as it has booted" is part of what is asked.
  const bool has_sequel = std::any_of(goal.values().begin(), goal.values().end(),
                                      [](const ValueRule& rule) { return rule.kind == "url"; });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (BeginsCondition(sentence, i) ||
        (!has_sequel &&
         ((BeginsWait(tokens, i) && !IsRemark(sentence, i)) || BeginsOccasion(sentence, i)))) {
      return true;
    }
    if (!BeginsLaterTime(tokens, i)) continue;
    bool is_reason = IsBackground(sentence, tokens[i].clause);
    for (std::size_t back = 1; back <= std::min(kReach, i); ++back) {
      is_reason |= tokens[i - back].clause == tokens[i].clause &&
                   kReasons.contains(LowerTextOf(tokens, i - back));
    }
    if (is_reason) continue;
    // "Next week" needs no cue before it, since hardly anything else is said of a week to come.
    const bool is_plan = LowerTextOf(tokens, i) == "next" || i == 0;
    if (is_plan || goal.SaysBefore(sentence, tokens[i].first_word)) return true;
  }
  return false;
}

bool IsNoRequest(std::string_view piece) {
  static const WordSet kConditions = {"if",     "unless", "whenever", "provided", "assuming",
                                      "before", "after",  "because",  "since",    "due",
                                      "during", "while",  "when",     "until",    "should"};
  static const WordSet kSubjects = {"the", "it",   "this",   "that",       "you",   "we",
                                    "all", "they", "secure", "everything", "there", "i"};
  const Sentence sentence(piece);
  if (sentence.is_question()) return true;
  const std::vector<Token>& tokens = sentence.tokens();
  const std::string first = LowerTextOf(tokens, 0);
  const std::string second = LowerTextOf(tokens, 1);
  return kConditions.contains(first) || (first == "only" && second == "if") ||
         (first == "in" && second == "case") || (first == "once" && kSubjects.contains(second));
}

bool PointsBack(std::string_view piece) {
  static const Cue kBack("them|they|those|these|such");
  const Sentence sentence(piece);
  return kBack.Find(sentence).has_value() && !SpeaksOfServer(sentence);
}

bool OnlyTells(std::string_view piece) {
  const Sentence sentence(piece);
  const std::vector<Token>& tokens = sentence.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_first = i == 0 || tokens[i - 1].clause != tokens[i].clause;
    if (is_first && !IsBackground(sentence, tokens[i].clause)) return false;
  }
  return true;
}

}  // namespace shoal::intent
