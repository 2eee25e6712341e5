// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/text_noise.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "redfish/goals/sentence_values.h"

namespace shoal::redfish {
namespace {

constexpr std::size_t kShortestMistyped = 4;

// Returns the number of letters with which the word begins; 0 when other bytes than a final mark
// follow.
std::size_t LettersOf(std::string_view word) {
  std::size_t count = 0;
  while (count < word.size() && absl::ascii_isalpha(static_cast<unsigned char>(word[count]))) {
    ++count;
  }
  const std::string_view rest = word.substr(count);
  const bool plain = rest.empty() ||
                     (rest.size() == 1 && absl::ascii_ispunct(static_cast<unsigned char>(rest[0])));
  return plain ? count : 0;
}

std::string Mistype(std::string_view word, std::size_t letters, runtime::Random& random) {
  std::string wrong(word);
  const std::size_t at = 1 + random.Below(letters - 2);
  switch (random.Below(3)) {
    case 0:
      std::swap(wrong[at], wrong[at + 1]);
      break;
    case 1:
      wrong.erase(at, 1);
      break;
    default:
      wrong.insert(at, 1, wrong[at]);
  }
  return wrong;
}

// Returns whether a request may need the word for a value.
bool IsValue(std::string_view word) {
  const auto is_letter = [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); };
  const auto is_digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  if (word.find('{') != word.npos || std::any_of(word.begin(), word.end(), is_digit)) return true;
  const auto begin = std::find_if(word.begin(), word.end(), is_letter);
  return !NumberOf(std::string(begin, std::find_if_not(begin, word.end(), is_letter))).is_null();
}

}  // namespace

std::string DropWords(std::string_view phrase, double share, runtime::Random& random) {
  if (share <= 0) return std::string(phrase);
  std::string kept;
  for (std::string_view rest = phrase; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    const bool dropped = random.Uniform() < share && !IsValue(word);
    if (dropped) continue;
    if (!kept.empty()) kept += ' ';
    kept += word;
  }
  return kept.empty() ? std::string(phrase) : kept;
}

std::string AddTypos(std::string_view phrase, double share, runtime::Random& random) {
  if (share <= 0) return std::string(phrase);
  std::string typed;
  while (!phrase.empty()) {
    const std::string_view word = phrase.substr(0, phrase.find(' '));
    const std::size_t letters = LettersOf(word);
    const bool wrong = letters >= kShortestMistyped && !IsValue(word) && random.Uniform() < share;
    typed += wrong ? Mistype(word, letters, random) : std::string(word);
    phrase.remove_prefix(word.size());
    if (!phrase.empty()) {
      typed += ' ';
      phrase.remove_prefix(1);
    }
  }
  return typed;
}

std::string AddNoise(std::string_view phrase, const TextNoise& noise, runtime::Random& random) {
  return AddTypos(DropWords(phrase, noise.word_dropout, random), noise.typos, random);
}

}  // namespace shoal::redfish
