// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/words.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace shoal::tokens {
namespace {

enum class CharacterKind : std::uint8_t { kOther, kLower, kUpper, kDigit };

CharacterKind KindOf(char c) {
  if (c >= 'a' && c <= 'z') return CharacterKind::kLower;
  if (c >= 'A' && c <= 'Z') return CharacterKind::kUpper;
  if (c >= '0' && c <= '9') return CharacterKind::kDigit;
  return static_cast<unsigned char>(c) >= 0x80 ? CharacterKind::kLower : CharacterKind::kOther;
}

bool StartsWord(std::string_view text, std::size_t position) {
  const CharacterKind kind = KindOf(text[position]);
  const CharacterKind before = KindOf(text[position - 1]);
  if (kind == CharacterKind::kDigit || before == CharacterKind::kDigit) return kind != before;
  if (kind != CharacterKind::kUpper) return false;
  if (before == CharacterKind::kLower) return true;
  return position + 1 < text.size() && KindOf(text[position + 1]) == CharacterKind::kLower &&
         static_cast<unsigned char>(text[position + 1]) < 0x80;
}

void DropEnding(std::string& word) {
  if (word.size() >= 5 && word.ends_with('s')) {
    const char before = word[word.size() - 2];
    if (before != 's' && before != 'u' && before != 'i') word.pop_back();
  }
  for (const std::string_view ending : {"ly", "ing", "ed", "e"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + 4) continue;
    word.erase(word.size() - ending.size());
    return;
  }
}

std::string Normalised(std::string_view word) {
  std::string lowered(word);
  for (char& c : lowered) {
    if (KindOf(c) == CharacterKind::kUpper) c = static_cast<char>(c - 'A' + 'a');
  }
  DropEnding(lowered);
  return lowered;
}

constexpr std::array<std::string_view, 61> kFunctionWords = {
    "a",     "all",    "also",  "an",     "and",  "any",  "are",   "as",   "at",
    "be",    "been",   "being", "but",    "by",   "can",  "do",    "does", "each",
    "for",   "from",   "has",   "have",   "if",   "in",   "into",  "is",   "it",
    "its",   "just",   "make",  "may",    "must", "my",   "need",  "of",   "or",
    "our",   "please", "shall", "should", "so",   "such", "sure",  "that", "the",
    "their", "then",   "there", "these",  "they", "this", "those", "to",   "want",
    "we",    "when",   "which", "while",  "will", "with", "you"};

}  // namespace

void AppendSpelledWords(std::string_view text, std::size_t limit,
                        std::vector<std::string_view>& words) {
  std::size_t position = 0;
  while (position < text.size() && words.size() < limit) {
    if (KindOf(text[position]) == CharacterKind::kOther) {
      ++position;
      continue;
    }
    std::size_t end = position + 1;
    while (end < text.size() && KindOf(text[end]) != CharacterKind::kOther &&
           !StartsWord(text, end))
      ++end;
    words.push_back(text.substr(position, end - position));
    position = end;
  }
}

void AppendWords(std::string_view text, std::size_t limit, std::vector<std::string>& words) {
  std::vector<std::string_view> spelled;
  AppendSpelledWords(text, limit - std::min(limit, words.size()), spelled);
  for (const std::string_view word : spelled) words.push_back(Normalised(word));
}

bool IsFunctionWord(std::string_view word) {
  return std::binary_search(kFunctionWords.begin(), kFunctionWords.end(), word);
}

}  // namespace shoal::tokens
