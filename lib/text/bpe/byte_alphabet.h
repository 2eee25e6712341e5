// SPDX-License-Identifier: Apache-2.0
// The alphabet in which GPT-2's files write bytes: each byte is one printable character.
//
// The 188 bytes that Latin-1 prints stand for themselves ("!" to "~", U+00A1 to U+00AC, U+00AE to
// U+00FF); the other 68 are U+0100 to U+0143 in order, so a space is "Ġ" (U+0120) and a line feed
// "Ċ". Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::tokens {

// The character of `byte`.
char32_t AlphabetCharacter(std::uint8_t byte);

// `bytes` written in the alphabet, as UTF-8.
std::string InAlphabet(std::string_view bytes);

// The bytes that `text` writes; nothing when a character of it is not in the alphabet.
std::optional<std::string> FromAlphabet(std::string_view text);

}  // namespace shoal::tokens
