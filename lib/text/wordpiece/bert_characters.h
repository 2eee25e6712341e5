// SPDX-License-Identifier: Apache-2.0
// What BERT's tokenizers see in a character.
//
// The properties are those of Hugging Face's `tokenizers`, not of this machine's Unicode version,
// so that equal texts get equal ids (bert_character_tables.h). Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::tokens {

// The bits that BertClassesOf returns.
inline constexpr std::uint8_t kBertDropped = 1;      // NUL, U+FFFD, controls, formats, private use
inline constexpr std::uint8_t kBertSpace = 2;        // \p{White_Space}
inline constexpr std::uint8_t kBertIdeograph = 4;    // a word of its own
inline constexpr std::uint8_t kBertPunctuation = 8;  // a word of its own, later

// REQUIRES: value <= 0x10FFFF, here and below.
std::uint8_t BertClassesOf(char32_t value);

// Appends the canonical decomposition of `value` (Unicode's form D) without its marks that have no
// width: "é" becomes "e", a combining accent becomes nothing.
void AppendWithoutAccents(char32_t value, std::string& text);

}  // namespace shoal::tokens
