// SPDX-License-Identifier: Apache-2.0
// UTF-8 text as code points, with the Unicode properties that split text into words.
//
// A text may be any bytes. A byte outside every well-formed sequence (RFC 3629: no surrogates,
// nothing overlong, nothing above U+10FFFF) reads as one U+FFFD, which is neither letter, number
// nor space.
//
// The properties are those of Hugging Face's `tokenizers`, not of this machine's Unicode version,
// so that equal texts split into equal words (code_point_tables.h). Stateless; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::tokens {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// The bits that ClassesOf returns.
inline constexpr std::uint8_t kLetter = 1;  // \p{L}
inline constexpr std::uint8_t kNumber = 2;  // \p{N}
inline constexpr std::uint8_t kSpace = 4;   // \p{White_Space}
// \w of UTS 18: alphabetic, mark, decimal number, connector, join control.
inline constexpr std::uint8_t kWordCharacter = 8;

struct CodePoint {
  char32_t value = 0;
  // 1 to 4; it is 1 for a byte outside every well-formed sequence.
  std::size_t bytes = 0;
  bool well_formed = true;
};

// REQUIRES: at < text.size().
CodePoint ReadCodePoint(std::string_view text, std::size_t at);

// Returns the code point that ends right before `end`. REQUIRES: 0 < end <= text.size(), and a code
// point or a stray byte ends there.
CodePoint ReadCodePointBefore(std::string_view text, std::size_t end);

// REQUIRES: value <= 0x10FFFF, here and below.
std::uint8_t ClassesOf(char32_t value);

void AppendUtf8(char32_t value, std::string& text);

bool IsWellFormed(std::string_view text);

// Appends `text` with every capital replaced by its small letter, code point by code point. A final
// sigma is no special case, and U+0130 becomes two code points. Malformed bytes stay as they are.
void AppendLowered(std::string_view text, std::string& lowered);

}  // namespace shoal::tokens
