// SPDX-License-Identifier: Apache-2.0
#include "platform/content/plain_text.h"

#include <cstdint>
#include <cstring>

namespace shoal::content {
namespace {

using Word = std::uint64_t;
constexpr Word kEach = 0x0101010101010101;
constexpr Word kHigh = 0x80 * kEach;

// Returns whether a byte of the word is less than `limit`, which is at most 0x80. The answer holds
// only when no byte is above ASCII.
constexpr Word Below(Word word, Word limit) { return (word - limit * kEach) & ~word & kHigh; }

// Returns whether a byte of the word needs an escape: control characters, quotes, backslashes and
// bytes beyond ASCII.
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
