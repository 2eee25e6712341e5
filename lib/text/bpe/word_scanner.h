// SPDX-License-Identifier: Apache-2.0
// Splits text into words as GPT-2 does, without a regular expression:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// The pattern looks one character ahead at most, so a word is found in one pass over its bytes;
// ASCII needs one table. Bytes that are no UTF-8 count as U+FFFD (code_points.h). Words follow one
// another and cover the text. Stateless; thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace shoal::tokens {

// The pattern, for PCRE2 and Oniguruma alike.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Where the word that starts at `at` ends. REQUIRES: at < text.size(), and a word starts there.
std::size_t WordEnd(std::string_view text, std::size_t at);

}  // namespace shoal::tokens
