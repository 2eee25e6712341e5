// SPDX-License-Identifier: Apache-2.0
// The alphabet in which GPT-2's files write bytes: each byte is one printable character.
//
// The 188 bytes that are printable in Latin-1 stand for themselves ("!" to "~", U+00A1 to U+00AC,
// U+00AE to U+00FF). The other 68 are U+0100 to U+0143 in order, so a space is "Ġ" (U+0120) and a
// line feed "Ċ". Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::tokens {

// Returns the character of `byte`.
char32_t AlphabetCharacter(std::uint8_t byte);

// Returns `bytes` written in the alphabet, as UTF-8.
std::string InAlphabet(std::string_view bytes);

// Returns the bytes that `text` stands for, or nullopt when a character is not in the alphabet.
std::optional<std::string> FromAlphabet(std::string_view text);

}  // namespace shoal::tokens
