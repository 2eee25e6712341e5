// SPDX-License-Identifier: Apache-2.0
// The batches of a run: all texts in an order drawn anew each epoch, cut into batches by tokens.
//
// A function of (texts, seed, position, choices): a run goes on from a position as if it had never
// stopped, and every rank sees the same global batches and takes its own part of each.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/token_choice.h"
#include "text/language/weighted_batch.h"

namespace shoal::encoder {

class BatchStream {
 public:
  struct Position {
    std::int64_t epoch = 0;
    // Texts of it that were passed.
    std::int64_t chunk = 0;
  };
  struct Item {
    Chunk chunk;
    // [tokens], 1 where a token is a target.
    std::vector<std::uint8_t> targets;
  };

  // REQUIRES: there is a chunk, none is empty, `position` was one of such a stream.
  BatchStream(std::vector<Chunk> chunks, std::uint64_t seed, const Position& position);

  // The next texts: one at least, then as long as they have no more than `tokens` tokens together
  // and the epoch lasts. Texts without a target are passed over; empty when a whole epoch has none.
  std::vector<Item> Next(const TokenChoice& loss, std::int64_t tokens);

  const Position& position() const { return position_; }
  // Epochs passed, with the part of the one that goes on.
  double epochs() const;

 private:
  void BeginEpoch();

  const std::vector<Chunk> chunks_;
  const std::uint64_t order_seed_;
  const std::uint64_t span_seed_;
  Position position_;
  // The chunk numbers of this epoch, in the order in which they are read.
  std::vector<std::size_t> order_;
};

// Tokens of all items.
std::int64_t TokensOf(const std::vector<BatchStream::Item>& items);

// Every `ranks`-th item from `rank` on. `attention`: the tokens that later ones may attend to.
// REQUIRES: it has no random spans.
language::WeightedBatch PartOf(const std::vector<BatchStream::Item>& items, std::int64_t rank,
                               std::int64_t ranks, const TokenChoice& attention);

}  // namespace shoal::encoder
