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

// Returns the end of the match that begins at word `at`.
std::optional<std::size_t> EndOfMatch(std::span<const std::string> words, std::size_t at,
                                      std::span<const std::string> stems) {
  if (stems.empty()) return at;
  if (stems.front() == "*") {
    for (std::size_t skip = 0; skip <= Cue::kGap && at + skip < words.size(); ++skip) {
      if (const auto end = EndOfMatch(words, at + skip, stems.subspan(1))) return end;
    }
    return std::nullopt;
  }
  if (at >= words.size()) return std::nullopt;
  if (IsNearly(words[at], stems.front())) return EndOfMatch(words, at + 1, stems.subspan(1));
  // People write "poweron" and "assettag".
  const std::size_t next = stems.size() > 1 && stems[1] == "*" ? 2 : 1;
  if (next >= stems.size() || !IsNearly(words[at], stems.front() + stems[next])) {
    return std::nullopt;
  }
  return EndOfMatch(words, at + 1, stems.subspan(next + 1));
}

bool IsNegated(const std::vector<std::string>& words, std::size_t at) {
  static constexpr std::array<std::string_view, 11> kNot = {
      "no", "not", "never", "without", "don", "dont", "avoid", "nor", "neither", "than", "instead"};
  // "Do not make it permanent" has its verb between, and "no" stands close to what it denies.
  constexpr std::size_t kReach = 4;
  for (std::size_t back = 1; back <= kReach && back <= at; ++back) {
    const std::string& word = words[at - back];
    if (word == "no" && back == kReach) continue;
    if (std::find(kNot.begin(), kNot.end(), word) != kNot.end()) return true;
  }
  return false;
}

}  // namespace

Cue::Cue(std::string_view text) : may_be_negated_(text.starts_with('~')) {
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
    if (!stems.empty()) alternatives_.push_back(std::move(stems));
  }
}

std::vector<CueMatch> Cue::FindAll(const Sentence& sentence) const {
  std::vector<CueMatch> matches;
  for (std::size_t at = 0; at < sentence.words().size(); ++at) {
    for (const std::vector<std::string>& stems : alternatives_) {
      if (const auto end = EndOfMatch(sentence.words(), at, stems)) matches.push_back({at, *end});
    }
  }
  return matches;
}

std::optional<CueMatch> Cue::Find(const Sentence& sentence) const {
  const std::vector<CueMatch> matches = FindAll(sentence);
  return matches.empty() ? std::nullopt : std::optional(matches.front());
}

bool Cue::IsAffirmed(const Sentence& sentence) const {
  const std::vector<CueMatch> matches = FindAll(sentence);
  return std::any_of(matches.begin(), matches.end(), [&](const CueMatch& match) {
    return may_be_negated_ || !IsNegated(sentence.words(), match.begin);
  });
}

}  // namespace shoal::intent
