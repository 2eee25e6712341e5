// SPDX-License-Identifier: Apache-2.0
#include "text/intent/request.h"

#include <absl/strings/ascii.h>

#include <algorithm>
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
    return !IsWayToAsk(tokens, at) && (is_first || (next != "there" && !IsWelcomed(tokens, at)));
  }
  if (!is_first) return false;
  return word == "provided" || word == "assuming" ||
         (word == "once" && kSubjects.contains(next) &&
          tokens[at + 1].clause == tokens[at].clause) ||
         (word == "in" && next == "case" && LowerTextOf(tokens, at + 2) != "of") ||
         (word == "when" && !IsPast(sentence, tokens[at].clause)) ||
         (word == "should" && at == 0 && !sentence.has_question());
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
      "forget this|stand down|hold off|actually no|actually do not|actually don t|no do not|"
      "no don t|better not|rather not|not yet|wrong window|wrong ticket|wrong server|wrong chat|"
      "wrong channel");
  const std::vector<CueMatch> all = kBack.FindAll(sentence);
  return std::any_of(all.begin(), all.end(), [&sentence](const CueMatch& match) {
    return match.end == sentence.words().size() ||
           sentence.ClauseOf(match.end) != sentence.ClauseOf(match.end - 1);
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
      "do not|don t|dont|do not you dare|don t you dare|never|must not|shall not|should not|"
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

// Returns whether every clause denies what it names, tells how things are or is only polite, and
// one denies.
bool DeniesAll(const Sentence& sentence) {
  static const WordSet kPolite = {"please", "pls", "thanks", "thank", "you", "hi", "hello", "no"};
  const std::vector<Token>& tokens = sentence.tokens();
  bool denies = false;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    bool is_polite = true;
    for (; end < tokens.size() && tokens[end].clause == tokens[begin].clause; ++end) {
      is_polite &= kPolite.contains(LowerTextOf(tokens, end));
    }
    const bool denies_it = DeniesCommand(sentence, tokens[begin].clause);
    if (!is_polite && !denies_it && !IsBackground(sentence, tokens[begin].clause)) return false;
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
      "look up|read up|find out|would be wrong|would be a mistake|would be bad|decide against|"
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
      "change my mind|second thought|take that back|take it back|meant for someone|"
      "meant for somebody|hold off on");
  if (sentence.is_question() || kUndecided.Find(sentence) || TakesBack(sentence) ||
      DeniesAll(sentence)) {
    return true;
  }
  const std::vector<Token>& tokens = sentence.tokens();
  if (tokens.front().clause != tokens.back().clause) return false;
  if (kAlone.Find(sentence)) return true;
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

bool AsksForLater(const Sentence& sentence, const GoalSentence& goal) {
  static const WordSet kReasons = {"before", "because", "since", "by", "until", "for"};
  constexpr std::size_t kReach = 3;
  const std::vector<Token>& tokens = sentence.tokens();
  // "Eject the image as soon as it has booted" is part of what is asked.
  const bool has_sequel = std::any_of(goal.values().begin(), goal.values().end(),
                                      [](const ValueRule& rule) { return rule.kind == "url"; });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (BeginsCondition(sentence, i) || (!has_sequel && BeginsWait(tokens, i))) return true;
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
