// SPDX-License-Identifier: Apache-2.0
#include "text/intent/speller.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shoal::intent {
namespace {

// Shorter words are too near to each other.
constexpr std::size_t kShortest = 5;

// Returns whether one letter too many, too few, another one, or two swapped ones make `b` of `a`.
bool IsOneSlipAway(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto [from, to] = std::mismatch(a.begin(), a.end(), b.begin());
  const std::string_view rest_a = a.substr(static_cast<std::size_t>(from - a.begin()));
  const std::string_view rest_b = b.substr(static_cast<std::size_t>(to - b.begin()));
  if (a.size() < b.size()) return rest_a == rest_b.substr(1);
  if (rest_a.empty()) return true;
  if (rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a.size() >= 2 && rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] &&
         rest_a.substr(2) == rest_b.substr(2);
}

std::optional<std::string> Nearest(std::string_view word, const WordSet& words) {
  std::optional<std::string> nearest;
  for (const std::string& known : words) {
    if (known.size() + 1 < kShortest || !IsOneSlipAway(word, known)) continue;
    if (known.front() == word.front()) return known;
    if (!nearest) nearest = known;
  }
  return nearest;
}

}  // namespace

Speller::Speller(std::map<std::string, std::string, std::less<>> abbreviations, WordSet telling,
                 WordSet phrased, WordSet others)
    : abbreviations_(std::move(abbreviations)),
      telling_(std::move(telling)),
      phrased_(std::move(phrased)),
      others_(std::move(others)) {}

std::optional<std::string> Speller::Meant(std::string_view word) const {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  if (const auto full = abbreviations_.find(lower); full != abbreviations_.end()) {
    return full->second;
  }
  const bool is_plain = std::all_of(lower.begin(), lower.end(), [](char byte) {
    return absl::ascii_islower(static_cast<unsigned char>(byte));
  });
  if (!is_plain || lower.size() < kShortest) return std::nullopt;
  if (Knows(lower)) return std::nullopt;
  if (auto nearest = Nearest(lower, telling_)) return nearest;
  return Nearest(lower, phrased_);
}

bool Speller::IsPhrased(std::string_view word) const {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  return telling_.contains(lower) || phrased_.contains(lower);
}

bool Speller::Knows(std::string_view word) const {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  const std::array<const WordSet*, 3> lists = {&telling_, &phrased_, &others_};
  return std::any_of(lists.begin(), lists.end(),
                     [&lower](const WordSet* list) { return list->contains(lower); });
}

}  // namespace shoal::intent
