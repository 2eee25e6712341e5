// SPDX-License-Identifier: Apache-2.0
#include "text/intent/condition.h"

#include <optional>
#include <string>
#include <vector>

#include "text/intent/clause.h"
#include "text/intent/cue.h"
#include "text/intent/speller.h"

namespace shoal::intent {
namespace {

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

}  // namespace

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

bool BeginsWait(const Sentence& sentence, std::size_t at) {
  const std::vector<Token>& tokens = sentence.tokens();
  static const WordSet kAsking = {"possible", "convenient", "you"};
  return LowerTextOf(tokens, at) == "as" && LowerTextOf(tokens, at + 1) == "soon" &&
         !kAsking.contains(LowerTextOf(tokens, at + 3));
}

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

}  // namespace shoal::intent
