// SPDX-License-Identifier: Apache-2.0
#include "text/intent/request.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "text/intent/clause.h"
#include "text/intent/condition.h"
#include "text/intent/cue.h"
#include "text/intent/denial.h"
#include "text/intent/speller.h"

namespace shoal::intent {
namespace {

// Returns whether a token begins the name of a time to come.
bool BeginsLaterTime(const std::vector<Token>& tokens, std::size_t at) {
  static const WordSet kTimes = {"monday",   "tuesday", "wednesday", "thursday", "friday",
                                 "saturday", "sunday",  "week",      "month"};
  const std::string word = LowerTextOf(tokens, at);
  const std::string next = LowerTextOf(tokens, at + 1);
  return word == "tomorrow" || word == "tonight" ||
         ((word == "next" || word == "on") && kTimes.contains(next));
}

// Returns whether the sentence ends with a tag question, "was it", "shouldn't it?", but for what is
// only polite or told behind it. "Will you" and "could you" ask for what stands before.
bool EndsWithTag(const Sentence& sentence) {
  static const WordSet kAuxiliaries = {
      "is",        "isn't",    "isnt",  "was",     "wasn't",  "wasnt", "are",    "aren't",
      "were",      "weren't",  "does",  "doesn't", "doesnt",  "did",   "didn't", "didnt",
      "has",       "hasn't",   "hasnt", "have",    "haven't", "had",   "hadn't", "should",
      "shouldn't", "shouldnt", "must",  "mustn't", "will",    "won't", "would",  "wouldn't",
      "can",       "can't",    "could", "couldn't"};
  static const WordSet kThings = {"it", "they", "he", "she", "that", "there", "we", "i"};
  // "Do it" commands.
  static const WordSet kPeople = {"they", "we", "you"};
  static const WordSet kOfDeeds = {"did", "didn't", "didnt", "have", "haven't", "had", "hadn't"};
  const std::vector<Token>& tokens = sentence.tokens();
  for (std::size_t end = tokens.size(); end > 0;) {
    const std::size_t clause = tokens[end - 1].clause;
    std::size_t first = end - 1;
    while (first > 0 && tokens[first - 1].clause == clause) --first;
    const std::string auxiliary = LowerTextOf(tokens, first);
    const std::string subject = LowerTextOf(tokens, first + 1);
    const bool is_tag = (kAuxiliaries.contains(auxiliary) && kThings.contains(subject)) ||
                        (kOfDeeds.contains(auxiliary) && subject == "you") ||
                        ((auxiliary == "do" || auxiliary == "don't") && kPeople.contains(subject));
    const bool is_right = sentence.has_question() && end == first + 1 && end == tokens.size() &&
                          (auxiliary == "right" || auxiliary == "correct");
    if (first > 0 && ((end == first + 2 && is_tag) || is_right)) return true;
    if (!IsPolite(sentence, clause) && !IsBackground(sentence, clause)) return false;
    end = first;
  }
  return false;
}

// Returns whether the sentence says "never mind" of what it asked for, and not of what comes after
// it: "from the network once, and never mind the boots behind it".
bool NeverMinds(const Sentence& sentence) {
  static const Cue kNever("never mind|nevermind");
  const std::vector<CueMatch> all = kNever.FindAll(sentence);
  return std::any_of(all.begin(), all.end(), [&sentence](const CueMatch& match) {
    const bool goes_on = match.end < sentence.words().size() &&
                         sentence.ClauseOf(match.end) == sentence.ClauseOf(match.begin);
    return !goes_on || match.begin == 0 || sentence.TextAt(match.begin - 1) != "and";
  });
}

// Returns whether the sentence begins with a question that asks for information, and only tells
// things behind it.
bool OnlyTellsBehindQuestion(const Sentence& sentence) {
  const std::size_t from = sentence.clause_behind_question();
  const std::vector<Token>& tokens = sentence.tokens();
  return from > 0 && std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
           return token.clause < from || IsPolite(sentence, token.clause) ||
                  IsBackground(sentence, token.clause);
         });
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
      "whether|whether to|is dangerous|is risky|is a bad idea|makes no sense|"
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
      "come back to you|no action|do nothing|just curious|no wait|forget it|thinking out loud|"
      "think out loud|thinking aloud|think aloud|if we ever|i suppose we d|i suppose we would|"
      "change my mind|second thought|take that back|meant for someone|"
      "meant for somebody|hold off on|off or on|on or off");
  if (sentence.is_question() || kUndecided.Find(sentence) || NeverMinds(sentence) ||
      TakesBack(sentence) || DeniesAll(sentence) || EndsWithTag(sentence) ||
      OnlyTellsBehindQuestion(sentence)) {
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
  if (verb == tokens.end()) return false;
  // "Maybe shut it down", but not "maybe you could shut it down"
  static const WordSet kDoubts = {"maybe", "perhaps"};
  const std::string first = absl::AsciiStrToLower(verb->text);
  const bool is_asked = std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return kPolite.contains(absl::AsciiStrToLower(token.text));
  });
  return kTelling.contains(first) || (kDoubts.contains(first) && !is_asked);
}

bool AsksForLater(const Sentence& sentence, const GoalSentence& goal) {
  static const WordSet kReasons = {"before", "because", "since", "by", "until", "for"};
  constexpr std::size_t kReach = 3;
  const std::vector<Token>& tokens = sentence.tokens();
  // "Eject the image as soon as it has booted" is part of what is asked.
  const bool has_sequel = std::any_of(goal.values().begin(), goal.values().end(),
                                      [](const ValueRule& rule) { return rule.kind == "url"; });
  static const Cue kSignals(
      "on my signal|on my call|on my command|on my word|on my mark|upon my|at my signal|at my call|"
      "at my command|first sign of|in the event of|wait for my|wait for our");
  if (kSignals.Find(sentence)) return true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (BeginsCondition(sentence, i) ||
        (BeginsWait(sentence, i, has_sequel) && !IsRemark(sentence, i)) ||
        BeginsOccasion(sentence, i, has_sequel)) {
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
  bool tells = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_first = i == 0 || tokens[i - 1].clause != tokens[i].clause;
    if (!is_first || IsPolite(sentence, tokens[i].clause)) continue;
    if (!IsBackground(sentence, tokens[i].clause)) return false;
    tells = true;
  }
  return tells;
}

}  // namespace shoal::intent
