// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/bert_characters.h"

#include <cstddef>
#include <vector>

#include "text/bpe/code_points.h"
#include "text/bpe/paged_table.h"
#include "text/wordpiece/bert_character_tables.h"

namespace shoal::tokens {
namespace {

// A Hangul syllable is computed from its parts (the Unicode Standard, chapter 3.12).
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kLastSyllable = 0xD7A3;
constexpr char32_t kLeading = 0x1100;
constexpr char32_t kVowel = 0x1161;
constexpr char32_t kTrailing = 0x11A7;
constexpr char32_t kVowels = 21;
constexpr char32_t kTrailings = 28;

constexpr std::int32_t kUnchanged = -1;

PagedTable<std::uint8_t> MakeBertClasses() {
  std::vector<std::uint8_t> classes(kCodePoints);
  const auto ranges = BertClassRanges();
  std::size_t last = 0;
  for (std::size_t i = 0; i < ranges.size(); i += 3) {
    const std::size_t first = last + static_cast<std::size_t>(ranges[i]);
    last = first + static_cast<std::size_t>(ranges[i + 1]);
    for (std::size_t c = first; c <= last; ++c) {
      classes[c] = static_cast<std::uint8_t>(ranges[i + 2]);
    }
  }
  return PagedTable<std::uint8_t>(classes);
}

// For each code point the place in AccentRanges() of the number of code points that it becomes.
PagedTable<std::int32_t> MakeAccents() {
  std::vector<std::int32_t> places(kCodePoints, kUnchanged);
  const auto ranges = AccentRanges();
  std::size_t last = 0;
  for (std::size_t i = 0; i < ranges.size(); i += 3 + static_cast<std::size_t>(ranges[i + 2])) {
    const std::size_t first = last + static_cast<std::size_t>(ranges[i]);
    last = first + static_cast<std::size_t>(ranges[i + 1]);
    for (std::size_t c = first; c <= last; ++c) places[c] = static_cast<std::int32_t>(i + 2);
  }
  return PagedTable<std::int32_t>(places);
}

}  // namespace

std::uint8_t BertClassesOf(char32_t value) {
  static const PagedTable<std::uint8_t> kClasses = MakeBertClasses();
  return kClasses.At(value);
}

void AppendWithoutAccents(char32_t value, std::string& text) {
  static const PagedTable<std::int32_t> kAccents = MakeAccents();
  if (value >= kFirstSyllable && value <= kLastSyllable) {
    const char32_t index = value - kFirstSyllable;
    AppendUtf8(kLeading + index / (kVowels * kTrailings), text);
    AppendUtf8(kVowel + index / kTrailings % kVowels, text);
    if (index % kTrailings != 0) AppendUtf8(kTrailing + index % kTrailings, text);
    return;
  }
  const std::int32_t place = kAccents.At(value);
  if (place == kUnchanged) {
    AppendUtf8(value, text);
    return;
  }
  const auto entry = AccentRanges().subspan(static_cast<std::size_t>(place));
  for (const std::int32_t left : entry.subspan(1, static_cast<std::size_t>(entry[0]))) {
    AppendUtf8(static_cast<char32_t>(left), text);
  }
}

}  // namespace shoal::tokens
