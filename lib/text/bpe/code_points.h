// SPDX-License-Identifier: Apache-2.0
// UTF-8 text as code points, with the Unicode properties that split text into words.
//
// A text may be any bytes. A byte that belongs to no well-formed sequence (RFC 3629: no surrogates,
// nothing overlong, nothing past U+10FFFF) reads as one U+FFFD: neither letter, number nor space.
//
// The properties are those of Hugging Face's `tokenizers`, not of the Unicode version on this
// machine, so that equal texts fall into equal words (code_point_tables.h). Stateless; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::tokens {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Bits of ClassesOf.
inline constexpr std::uint8_t kLetter = 1;  // \p{L}
inline constexpr std::uint8_t kNumber = 2;  // \p{N}
inline constexpr std::uint8_t kSpace = 4;   // \p{White_Space}
// \w of UTS 18: alphabetic, mark, decimal number, connector, join control.
inline constexpr std::uint8_t kWordCharacter = 8;

struct CodePoint {
  char32_t value = 0;
  // 1 to 4; 1 for a byte that belongs to no well-formed sequence.
  std::size_t bytes = 0;
  bool well_formed = true;
};

// REQUIRES: at < text.size().
CodePoint ReadCodePoint(std::string_view text, std::size_t at);

// The code point that ends right before `end`. REQUIRES: 0 < end <= text.size(), and a code point
// or a byte that stands alone ends there.
CodePoint ReadCodePointBefore(std::string_view text, std::size_t end);

// REQUIRES: value <= 0x10FFFF, here and below.
std::uint8_t ClassesOf(char32_t value);

void AppendUtf8(char32_t value, std::string& text);

bool IsWellFormed(std::string_view text);

// Appends `text` with every capital as its small letter, code point by code point: a final sigma is
// no case of its own, U+0130 becomes two code points. Bytes that are not well-formed stay.
void AppendLowered(std::string_view text, std::string& lowered);

}  // namespace shoal::tokens
