// SPDX-License-Identifier: Apache-2.0
// The pieces of a text that may ask for several things: what stands between its lines, its commas
// and other marks behind words, its items ("(1)", "2.", "-"), and "and" or "then".
//
// A piece has no such separator around it, but for a question mark, which it keeps. Marks inside of
// words, such as those of addresses, and between a pair of '"' do not separate.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace shoal::intent {

// Bytes of the text, the first and the one after the last.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Piece&) const = default;
};

std::vector<Piece> PiecesOf(std::string_view text);

}  // namespace shoal::intent
