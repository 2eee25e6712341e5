// SPDX-License-Identifier: Apache-2.0
#include "text/intent/condition.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "text/intent/clause.h"
#include "text/intent/cue.h"
#include "text/intent/speller.h"
#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

// Returns whether "if" at a token only begins a way to ask, as in "if you can", "if it is off" and
// "if somebody would", and not what has to happen first, as in "if you see smoke" and "if it
// beeps".
bool IsWayToAsk(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kAsking = {"possible", "it's", "its", "need", "so", "may", "not", "that's"};
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
      "misread|i miss something|i am missing something|i m missing something|i have the wrong|i "
      "have "
      "got the wrong|i ve got the wrong|i got the wrong|i picked the wrong|i am at the wrong|i m "
      "at "
      "the wrong|i am in front of the wrong|i m in front of the wrong|i mixed it up|i mixed them "
      "up");
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
  // "I would sleep better if", but not "better shut it down if"
  static const WordSet kFeelings = {"better", "easier",   "safer",   "happier",
                                    "calmer", "relieved", "pleased", "delighted"};
  if (at > 0 && tokens[at - 1].clause == tokens[at].clause &&
      kFeelings.contains(LowerTextOf(tokens, at - 1))) {
    return true;
  }
  while (at > 0 && tokens[at - 1].clause == tokens[at].clause) {
    if (kWelcome.contains(LowerTextOf(tokens, --at))) return true;
  }
  return false;
}

// Returns whether "and if" at a token goes on with what was welcome before, "were" behind it: "I
// would be glad if A were done, and if B were".
bool GoesOnWelcomed(const std::vector<Token>& tokens, std::size_t at) {
  if (at == 0 || LowerTextOf(tokens, at - 1) != "and") return false;
  bool wishes = false;
  for (std::size_t i = at + 1; i < tokens.size() && tokens[i].clause == tokens[at].clause; ++i) {
    wishes |= LowerTextOf(tokens, i) == "were";
  }
  for (std::size_t before = at - 1; wishes && before-- > 0;) {
    if (LowerTextOf(tokens, before) == "if") return IsWelcomed(tokens, before);
  }
  return false;
}

// Returns whether the subject of an event begins at a token: somebody, or a thing that is not the
// server itself. Where the command has a sequel (`has_sequel`), neither are its own steps, as in
// "eject it when the installer is done".
bool IsForeignSubject(const std::vector<Token>& tokens, std::size_t at, bool has_sequel) {
  static const WordSet kArticles = {"the", "an", "a", "our", "my", "all", "his", "her", "their"};
  static const WordSet kPeople = {"everybody", "everyone", "somebody", "someone",
                                  "anybody",   "anyone",   "nobody",   "he",
                                  "she",       "they",     "i",        "we"};
  static const WordSet kOwn = {"server", "machine", "host", "box", "node", "system", "computer"};
  static const WordSet kSteps = {
      "installer", "installation", "install",   "setup",   "update",  "upgrade",   "flash",
      "flashing",  "image",        "boot",      "reboot",  "restart", "os",        "transfer",
      "upload",    "download",     "drive",     "disc",    "disk",    "iso",       "cd",
      "dvd",       "firmware",     "bios",      "live",    "tool",    "tools",     "test",
      "whole",     "process",      "job",       "task",    "thing",   "operating", "new",
      "event",     "subscription", "inventory", "version", "power",   "rescue"};
  if (at + 1 >= tokens.size()) return false;
  const std::string word = LowerTextOf(tokens, at);
  const std::string next = LowerTextOf(tokens, at + 1);
  if (kArticles.contains(word)) {
    const bool is_own = kOwn.contains(next) || kOwn.contains(LowerTextOf(tokens, at + 2));
    return !is_own && !(has_sequel && kSteps.contains(next));
  }
  // "When Maria says so", but not "when PowerState reads Off"
  const std::string& text = tokens[at].text;
  const bool is_name = text.size() > 1 &&
                       absl::ascii_isupper(static_cast<unsigned char>(text[0])) &&
                       ShapeOf(text).lower && !ShapeOf(text).inner_upper;
  return kPeople.contains(word) || is_name;
}

// Returns whether "if needed" or "if it is necessary" stands at a token, ends its clause, and is
// about a step on the way: "reboot if needed", "legacy mode is left if necessary".
bool IsNeed(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kNeeds = {"required", "needed", "necessary"};
  static const WordSet kSteps = {"restart", "reboot",  "restarting", "rebooting", "restarts",
                                 "reboots", "perform", "left",       "leave",     "prerequisites"};
  std::size_t from = at + 1;
  while (LowerTextOf(tokens, from) == "it" || LowerTextOf(tokens, from) == "is") ++from;
  if (!kNeeds.contains(LowerTextOf(tokens, from))) return false;
  if (from + 1 < tokens.size() && tokens[from + 1].clause == tokens[at].clause) return false;
  while (at > 0 && tokens[at - 1].clause == tokens[from].clause) {
    if (kSteps.contains(LowerTextOf(tokens, --at))) return true;
  }
  return false;
}

}  // namespace

bool IsRemark(const Sentence& sentence, std::size_t at) {
  static const Cue kBeliefs(
      "i am not mistaken|i m not mistaken|i am not wrong|i m not wrong|i am right|i m right|i read "
      "it right|i read this right|i read that right|i read it correctly|i read this correctly|i "
      "see it right|i see this right|i see it correctly|i see correctly|i remember right|i "
      "remember correctly|i recall correctly|i understood correctly|i understand correctly|i "
      "understand it "
      "right|memory serves|i am honest|i m honest|we are honest|i am frank|i may say so");
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
      "that is all|nothing speaks against it|nothing speaks against that|there is nothing against "
      "it|"
      "it suits you|that suits you|it is not too much trouble|it s not too much trouble|it is no "
      "trouble|it s no trouble");
  static const Cue kRestarts(
      "a restart is need|a reboot is need|a restart is require|a reboot is require|a restart is "
      "necessary|a reboot is necessary|it need a restart|it need a reboot|that need a restart|"
      "that need a reboot|it require a restart|it require a reboot|that require a restart|"
      "that require a reboot");
  static const WordSet kAllowing = {"do", "go", "please", "then", "reboot", "restart", "so"};
  static const WordSet kGoesOn = {"please", "could", "can", "would"};
  const std::vector<Token>& tokens = sentence.tokens();
  const std::string word = LowerTextOf(tokens, at);
  if (at >= 2 && LowerTextOf(tokens, at - 2) == "correct" && LowerTextOf(tokens, at - 1) == "me") {
    return true;
  }
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
  if (IsNeed(tokens, at)) return true;
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
  const bool is_first = at == 0 || tokens[at - 1].clause != tokens[at].clause ||
                        kJoints.contains(LowerTextOf(tokens, at - 1));
  if (word == "if") {
    if (at + 1 < tokens.size() &&
        EndOfMatchAt(sentence, Mistakes(), tokens[at + 1].first_word).has_value()) {
      return true;
    }
    return !IsWayToAsk(tokens, at) && !GoesOnWelcomed(tokens, at) &&
           (is_first || (next != "there" && !IsWelcomed(tokens, at)));
  }
  // "When Peter calls, ..", "after the drill has ended, .."
  static const WordSet kLeading = {"when", "once", "after"};
  const std::size_t clause = tokens[at].clause;
  if (is_first && kLeading.contains(word) && IsForeignSubject(tokens, at + 1, true) &&
      tokens[at + 1].clause == clause && !IsPast(sentence, clause)) {
    static const WordSet kPerfect = {"has", "have"};
    const bool is_name = next != "the" && next != "a" && next != "an";
    constexpr std::size_t kReach = 5;
    const std::size_t end = std::min(tokens.size(), at + kReach);
    bool is_event = word != "after" && is_name && at + 2 < end && tokens[at + 2].clause == clause;
    for (std::size_t i = at + 2; i < end && tokens[i].clause == clause; ++i) {
      is_event |= kPerfect.contains(LowerTextOf(tokens, i));
      if (tokens[i].before_colon) break;
    }
    if (is_event) return true;
  }
  if (word == "when" && next != "the") return kSubjects.contains(next);
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

bool BeginsWait(const Sentence& sentence, std::size_t at, bool has_sequel) {
  static const WordSet kAsking = {"possible", "convenient", "you"};
  const std::vector<Token>& tokens = sentence.tokens();
  constexpr std::size_t kLength = 3;
  return LowerTextOf(tokens, at) == "as" && LowerTextOf(tokens, at + 1) == "soon" &&
         !kAsking.contains(LowerTextOf(tokens, at + kLength)) &&
         (!has_sequel || IsForeignSubject(tokens, at + kLength, true));
}

bool BeginsOccasion(const Sentence& sentence, std::size_t at, bool has_sequel) {
  static const WordSet kWaiting = {"when", "once", "whenever", "after", "moment", "minute"};
  static const WordSet kTelling = {
      "is",       "are",      "has",     "have",    "stays",     "shows", "not",
      "even",     "only",     "done",    "proof",   "before",    "ahead", "that",
      "accepted", "which",    "whoever", "because", "so",        "as",    "will",
      "always",   "complete", "proven",  "success", "acceptance"};
  static const WordSet kEvents = {
      "sounds",    "rings",   "beeps",  "fails",    "comes",     "calls",    "arrives",
      "complains", "ends",    "agrees", "leaves",   "dies",      "finishes", "completes",
      "breaks",    "trips",   "drops",  "rises",    "exceeds",   "falls",    "reaches",
      "signals",   "opens",   "closes", "goes",     "alarms",    "asks",     "says",
      "tells",     "agree",   "leave",  "come",     "say",       "call",     "tell",
      "ask",       "give",    "gives",  "approves", "approve",   "confirms", "confirm",
      "nods",      "returns", "return", "triggers", "triggered", "starts"};
  static const WordSet kStates = {"is", "are", "has", "have"};
  static const WordSet kModals = {"must", "should", "shall", "to", "will"};
  static const WordSet kWantedStates = {"off", "on", "lit", "dark", "running", "down", "up"};
  constexpr std::size_t kReach = 4;
  const std::vector<Token>& tokens = sentence.tokens();
  const std::size_t clause = tokens[at].clause;
  const auto is_inside = [&](std::size_t token) {
    return token < tokens.size() && tokens[token].clause == clause;
  };
  if (at == 0 || !is_inside(at - 1) || !is_inside(at + 1) ||
      !kWaiting.contains(LowerTextOf(tokens, at)) ||
      !IsForeignSubject(tokens, at + 1, has_sequel) || IsPast(sentence, clause)) {
    return false;
  }
  // "The moment the alarm sounds", but not "at the moment"
  static const WordSet kMoments = {"moment", "minute"};
  if (kMoments.contains(LowerTextOf(tokens, at)) &&
      (at < 2 || LowerTextOf(tokens, at - 1) != "the" || LowerTextOf(tokens, at - 2) == "at" ||
       LowerTextOf(tokens, at - 2) == "for")) {
    return false;
  }
  bool is_event = false;
  bool is_state = false;
  for (std::size_t after = at + 2; after <= at + kReach && is_inside(after); ++after) {
    is_event |= kEvents.contains(LowerTextOf(tokens, after));
    is_state |= kStates.contains(LowerTextOf(tokens, after));
  }
  bool is_only = has_sequel || (clause == tokens.front().clause && clause == tokens.back().clause);
  if (LowerTextOf(tokens, at - 1) == "only") --at;
  while (at > 0 && is_inside(at - 1)) {
    const std::string before = LowerTextOf(tokens, --at);
    // "It must be off when the electrician comes" names no event to wait for.
    const bool is_state_wanted = kModals.contains(before) && LowerTextOf(tokens, at + 1) == "be" &&
                                 kWantedStates.contains(LowerTextOf(tokens, at + 2));
    if (kTelling.contains(before) || is_state_wanted) return false;
    is_only &= has_sequel || (before != "and" && before != "then");
  }
  return is_event || (is_state && is_only);
}

}  // namespace shoal::intent
