// SPDX-License-Identifier: Apache-2.0
// The pieces of a text that may ask for several things: what stands between its commas, other marks
// behind words, items of a list, and "and" or "then".
//
// A piece has no such separator around it. Neighbouring pieces together, with what stands between
// them, are a piece as well. Marks inside of quotations and of words, such as those of addresses,
// do not separate.
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
