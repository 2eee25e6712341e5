// SPDX-License-Identifier: Apache-2.0
#include "platform/content/plain_text.h"

#include <cstdint>
#include <cstring>

namespace shoal::content {
namespace {

using Word = std::uint64_t;
constexpr Word kEach = 0x0101010101010101;
constexpr Word kHigh = 0x80 * kEach;

// Whether a byte of the word is less than `limit`, at most 0x80; only asked where none is above it.
constexpr Word Below(Word word, Word limit) { return (word - limit * kEach) & ~word & kHigh; }

// Whether a byte of the word does not stand for itself between quotes: control characters, quotes,
// backslashes, and what is no ASCII.
bool HasSpecial(Word word) {
  return ((word & kHigh) | Below(word, 0x20) | Below(word ^ ('"' * kEach), 1) |
          Below(word ^ ('\\' * kEach), 1)) != 0;
}

}  // namespace

bool IsPlain(std::string_view text) {
  Word word = 0;
  for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    if (HasSpecial(word)) return false;
  }
  word = ' ' * kEach;
  std::memcpy(&word, text.data(), text.size());
  return !HasSpecial(word);
}

}  // namespace shoal::content
