// SPDX-License-Identifier: Apache-2.0
#include "text/intent/cue.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <span>

#include "text/lexical/words.h"

namespace shoal::intent {
namespace {

constexpr std::size_t kMaxWords = 16;

// Returns whether what stands at word `at` is said apart from the word before it.
bool BeginsApart(const Sentence& sentence, std::size_t at) {
  static constexpr std::array<std::string_view, 3> kJoints = {"and", "but", "then"};
  if (at == 0 || at >= sentence.words().size()) return false;
  if (sentence.ClauseOf(at) != sentence.ClauseOf(at - 1)) return true;
  return std::find(kJoints.begin(), kJoints.end(), sentence.words()[at]) != kJoints.end();
}

// Returns the end of the match that begins at word `at`.
std::optional<std::size_t> EndOfMatch(const Sentence& sentence, std::size_t at,
                                      std::span<const std::string> stems) {
  const std::vector<std::string>& words = sentence.words();
  if (stems.empty()) return at;
  if (stems.front() == "*") {
    for (std::size_t skip = 0; skip <= Cue::kGap && at + skip < words.size(); ++skip) {
      if (const auto end = EndOfMatch(sentence, at + skip, stems.subspan(1))) return end;
      if (BeginsApart(sentence, at + skip)) break;
    }
    return std::nullopt;
  }
  if (at >= words.size()) return std::nullopt;
  if (sentence.Says(at, stems.front())) return EndOfMatch(sentence, at + 1, stems.subspan(1));
  // People write "poweron" and "assettag".
  const std::size_t next = stems.size() > 1 && stems[1] == "*" ? 2 : 1;
  if (next >= stems.size() || !IsNearly(words[at], stems.front() + stems[next])) {
    return std::nullopt;
  }
  return EndOfMatch(sentence, at + 1, stems.subspan(next + 1));
}

bool IsNegated(const Sentence& sentence, std::size_t at) {
  const std::vector<std::string>& words = sentence.words();
  static constexpr std::array<std::string_view, 12> kNot = {
      "no",   "nothing", "not", "never",   "without", "don",
      "dont", "avoid",   "nor", "neither", "than",    "instead"};
  // "Do not make it permanent" has its verb between, and "no" stands close to what it denies.
  constexpr std::size_t kReach = 4;
  for (std::size_t back = 1; back <= kReach && back <= at; ++back) {
    const std::string& word = words[at - back];
    if (sentence.ClauseOf(at - back) != sentence.ClauseOf(at) || word == "but") return false;
    if (word == "no" && back == kReach) continue;
    if (std::find(kNot.begin(), kNot.end(), word) != kNot.end()) return true;
  }
  return false;
}

}  // namespace

bool TellsState(const Sentence& sentence, const CueMatch& match) {
  // Both are stems.
  static constexpr std::array<std::string_view, 32> kTelling = {
      "was",   "were",     "is",     "are",   "has",    "have",    "had",    "been",
      "got",   "somebody", "someon", "show",  "shows",  "say",     "report", "still",
      "stay",  "already",  "who",    "which", "cannot", "found",   "find",   "sit",
      "stand", "lie",      "hate",   "being", "since",  "because", "refus",  "refuse"};
  // What follows a state, as in "off since noon" and "a forced stop would do harm".
  static constexpr std::array<std::string_view, 5> kFollowing = {"since", "would", "has", "had",
                                                                 "did"};
  // What begins a clause that says how to tell success.
  static constexpr std::array<std::string_view, 12> kProving = {
      "accept", "accepted", "acceptanc", "acceptance", "verifi",    "verified",
      "proof",  "proven",   "evidenc",   "evidence",   "criterion", "criteria"};
  static constexpr std::array<std::string_view, 10> kAsking = {
      "must", "should", "be", "to", "shall", "need", "want", "will", "pleas", "can"};
  constexpr std::size_t kReach = 3;
  const auto is_one = [](const auto& all, const std::string& word) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  const std::vector<std::string>& words = sentence.words();
  // "off to on", "system off to system on", "a powered-down box"
  const auto is_state = [&words](std::size_t at) {
    return at < words.size() && (words[at] == "on" || words[at] == "off");
  };
  const bool goes_on = (match.end < words.size() && words[match.end] == "to" &&
                        (is_state(match.end + 1) || is_state(match.end + 2))) ||
                       sentence.TextAt(match.begin).find("ed-") != std::string::npos;
  const auto has_word = [&](const auto& all, std::size_t at) {
    return at < words.size() && sentence.ClauseOf(at) == sentence.ClauseOf(match.begin) &&
           is_one(all, words[at]);
  };
  for (std::size_t at = match.begin;
       at-- > 0 && sentence.ClauseOf(at) == sentence.ClauseOf(match.begin);) {
    if (is_one(kProving, words[at]) || is_one(kProving, sentence.TextAt(at))) return true;
  }
  // "Has to" asks.
  const auto follows = [&](std::size_t at) {
    return has_word(kFollowing, at) && (at + 1 >= words.size() || words[at + 1] != "to");
  };
  bool tells = goes_on || follows(match.end) || follows(match.end + 1);
  for (std::size_t back = 1; back <= kReach && back <= match.begin; ++back) {
    const std::size_t at = match.begin - back;
    const std::string& word = words[at];
    if (sentence.ClauseOf(at) != sentence.ClauseOf(match.begin)) break;
    if (is_one(kAsking, word)) return false;
    tells |= is_one(kTelling, word);
  }
  return tells;
}

Cue::Cue(std::string_view text)
    : may_be_negated_(text.starts_with('~')), is_wish_(text.starts_with('!')) {
  const std::string copy(text);
  for (const auto& alternative : absl::StrSplit(copy, '|')) {
    std::vector<std::string> stems;
    for (const auto& part : absl::StrSplit(std::string(alternative), ' ', absl::SkipEmpty())) {
      const std::string word(part);
      if (word == "*") {
        stems.push_back(word);
      } else {
        tokens::AppendWords(word, kMaxWords, stems);
      }
    }
    const bool has_word = std::any_of(stems.begin(), stems.end(),
                                      [](const std::string& stem) { return stem != "*"; });
    if (has_word) alternatives_.push_back(std::move(stems));
  }
}

std::vector<CueMatch> Cue::FindAll(const Sentence& sentence) const {
  std::vector<CueMatch> matches;
  for (std::size_t at = 0; at < sentence.words().size(); ++at) {
    for (const std::vector<std::string>& stems : alternatives_) {
      if (const auto end = EndOfMatch(sentence, at, stems)) matches.push_back({at, *end});
    }
  }
  return matches;
}

std::optional<CueMatch> Cue::Find(const Sentence& sentence) const {
  const std::vector<CueMatch> matches = FindAll(sentence);
  return matches.empty() ? std::nullopt : std::optional(matches.front());
}

bool Cue::IsAffirmed(const Sentence& sentence) const { return !Affirmed(sentence).empty(); }

std::vector<CueMatch> Cue::Affirmed(const Sentence& sentence) const {
  std::vector<CueMatch> matches = FindAll(sentence);
  std::erase_if(matches, [&](const CueMatch& match) {
    return (!may_be_negated_ && IsNegated(sentence, match.begin)) ||
           (is_wish_ && TellsState(sentence, match));
  });
  return matches;
}

}  // namespace shoal::intent
