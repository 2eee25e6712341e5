// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/code_points.h"

#include <vector>

#include "text/bpe/code_point_tables.h"
#include "text/bpe/paged_table.h"

namespace shoal::tokens {
namespace {

constexpr char32_t kDottedCapitalI = 0x130;
constexpr CodePoint kStray{kReplacementCharacter, 1, false};

PagedTable<std::uint8_t> MakeClasses() {
  std::vector<std::uint8_t> classes(kCodePoints);
  const auto ranges = ClassRanges();
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

PagedTable<std::int32_t> MakeDifferences() {
  std::vector<std::int32_t> differences(kCodePoints);
  const auto ranges = LoweredRanges();
  std::size_t last = 0;
  for (std::size_t i = 0; i < ranges.size(); i += 4) {
    const std::size_t first = last + static_cast<std::size_t>(ranges[i]);
    last = first + static_cast<std::size_t>(ranges[i + 1]);
    for (std::size_t c = first; c <= last; c += static_cast<std::size_t>(ranges[i + 2])) {
      differences[c] = ranges[i + 3];
    }
  }
  return PagedTable<std::int32_t>(differences);
}

unsigned char ByteAt(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

char32_t Lowered(char32_t value) {
  static const PagedTable<std::int32_t> kDifferences = MakeDifferences();
  return static_cast<char32_t>(static_cast<std::int32_t>(value) + kDifferences.At(value));
}

}  // namespace

CodePoint ReadCodePoint(std::string_view text, std::size_t at) {
  const unsigned char lead = ByteAt(text, at);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xC2 || lead > 0xF4) return kStray;
  const unsigned char second = ByteAt(text, at + 1);
  if (!IsContinuation(second)) return kStray;
  if (lead < 0xE0) return {static_cast<char32_t>((lead & 0x1F) << 6 | (second & 0x3F)), 2};
  const unsigned char third = ByteAt(text, at + 2);
  if (!IsContinuation(third)) return kStray;
  if (lead < 0xF0) {
    const auto value =
        static_cast<char32_t>((lead & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F));
    if (value < 0x800 || (value >= 0xD800 && value <= 0xDFFF)) return kStray;
    return {value, 3};
  }
  const unsigned char fourth = ByteAt(text, at + 3);
  if (!IsContinuation(fourth)) return kStray;
  const auto value = static_cast<char32_t>((lead & 0x07) << 18 | (second & 0x3F) << 12 |
                                           (third & 0x3F) << 6 | (fourth & 0x3F));
  if (value < 0x10000 || value > 0x10FFFF) return kStray;
  return {value, 4};
}

CodePoint ReadCodePointBefore(std::string_view text, std::size_t end) {
  for (std::size_t bytes = 1; bytes <= 4 && bytes <= end; ++bytes) {
    const CodePoint read = ReadCodePoint(text.substr(0, end), end - bytes);
    if (read.well_formed && read.bytes == bytes) return read;
  }
  return kStray;
}

std::uint8_t ClassesOf(char32_t value) {
  static const PagedTable<std::uint8_t> kClasses = MakeClasses();
  return kClasses.At(value);
}

void AppendUtf8(char32_t value, std::string& text) {
  const auto add = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    add(value);
  } else if (value < 0x800) {
    add(0xC0 | value >> 6);
    add(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    add(0xE0 | value >> 12);
    add(0x80 | (value >> 6 & 0x3F));
    add(0x80 | (value & 0x3F));
  } else {
    add(0xF0 | value >> 18);
    add(0x80 | (value >> 12 & 0x3F));
    add(0x80 | (value >> 6 & 0x3F));
    add(0x80 | (value & 0x3F));
  }
}

bool IsWellFormed(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = ReadCodePoint(text, at);
    if (!read.well_formed) return false;
    at += read.bytes;
  }
  return true;
}

void AppendLowered(std::string_view text, std::string& lowered) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = ReadCodePoint(text, at);
    if (!read.well_formed) {
      lowered.push_back(text[at]);
    } else if (read.value == kDottedCapitalI) {
      lowered.append("i\xCC\x87");
    } else {
      AppendUtf8(Lowered(read.value), lowered);
    }
    at += read.bytes;
  }
}

}  // namespace shoal::tokens
