// SPDX-License-Identifier: Apache-2.0
// The words of a text: what both "AssetTag" and "asset tag" say.
//
// A word is a longest run of letters or of digits; a capital after a small letter starts a word,
// and so does the last capital before a small letter ("HTTPPort": http, port). Letters are lowered.
// All else separates. Bytes outside ASCII count as small letters, so a UTF-8 word stays whole.
// Endings are dropped from longer words: a plural "s" ("sessions": session, but not "address" or
// "status"), then one of "ly", "ing", "ed", "e" ("enable", "enabled": enabl).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

// Appends the words of `text` to `words` until there are `limit` in all.
void AppendWords(std::string_view text, std::size_t limit, std::vector<std::string>& words);

// Whether `word` (lowered) is one of the function words of English ("the", "of", "its"), which say
// nothing about what a text is about. "on" and "off" are none: they are states.
bool IsFunctionWord(std::string_view word);

}  // namespace shoal::tokens
