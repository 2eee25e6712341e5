// SPDX-License-Identifier: Apache-2.0
// The batches of a run: all texts, shuffled anew for each epoch and cut into batches by tokens.
//
// A batch is a function of (texts, seed, position, choices). A run that goes on from a position
// continues as if it had never stopped, and every rank sees the same global batches and takes its
// own part of each.
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
    // Texts of the epoch that were passed.
    std::int64_t chunk = 0;
  };
  struct Item {
    Chunk chunk;
    // [tokens], 1 where a token is a target.
    std::vector<std::uint8_t> targets;
  };

  // REQUIRES: there is at least one chunk, none is empty, and `position` is one of a stream like
  // this.
  BatchStream(std::vector<Chunk> chunks, std::uint64_t seed, const Position& position);

  // Returns the next texts: at least one, and then more while they have at most `tokens` tokens
  // together and the epoch lasts. Texts without a target are skipped. Returns nothing when a whole
  // epoch has no target.
  std::vector<Item> Next(const TokenChoice& loss, std::int64_t tokens);

  const Position& position() const { return position_; }
  // Returns the epochs passed, with a fraction for the current one.
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

// Returns the number of tokens of all items.
std::int64_t TokensOf(const std::vector<BatchStream::Item>& items);

// Returns every `ranks`-th item, from item `rank` on. `attention` chooses the tokens that later
// ones may attend to. REQUIRES: `attention` has no random spans.
language::WeightedBatch PartOf(const std::vector<BatchStream::Item>& items, std::int64_t rank,
                               std::int64_t ranks, const TokenChoice& attention);

}  // namespace shoal::encoder
