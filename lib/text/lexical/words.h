// SPDX-License-Identifier: Apache-2.0
// Splits a text into words, such that "AssetTag" and "asset tag" give the same words.
//
// A word is a longest run of letters or of digits. A capital after a small letter starts a word,
// and so does the last capital before a small letter ("HTTPPort": http, port). Letters are put in
// lower case. Everything else separates words. Bytes outside ASCII count as small letters, so a
// UTF-8 word stays whole. Longer words lose their endings: a plural "s" ("sessions": session, but
// not "address" or "status"), then one of "ly", "ing", "ed", "e" ("enable", "enabled": enabl).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

// Appends the words of `text` as they stand there, so that "BootSourceOverride" becomes "Boot",
// "Source", "Override", until `words` has `limit` elements. The views point into `text`.
void AppendSpelledWords(std::string_view text, std::size_t limit,
                        std::vector<std::string_view>& words);

// Appends the words of `text` to `words` until `words` has `limit` elements.
void AppendWords(std::string_view text, std::size_t limit, std::vector<std::string>& words);

// Returns whether `word` (in lower case) is an English function word ("the", "of", "its"), which
// does not tell what a text is about. "on" and "off" are not among them, since they are states.
bool IsFunctionWord(std::string_view word);

}  // namespace shoal::tokens
