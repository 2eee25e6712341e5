// SPDX-License-Identifier: Apache-2.0
// A rank's place where a model is trained by data parallelism and tensor parallelism together.
#pragma once

#include <cstdint>

namespace shoal::language {

// Ranks that follow one another are a tensor-parallel group: they have the same data rank, train on
// the same part of a batch, and each has a part of the model (tensor_shards.h). The ranks of one
// tensor rank have the same part of the model. All groups are of one size.
struct RankPlace {
  std::int64_t data_rank = 0;
  std::int64_t data_ranks = 1;
  std::int64_t tensor_rank = 0;
};

// REQUIRES: tensor_ranks divides `ranks`, 0 <= rank < ranks.
inline RankPlace PlaceOf(std::int64_t rank, std::int64_t ranks, std::int64_t tensor_ranks) {
  return {.data_rank = rank / tensor_ranks,
          .data_ranks = ranks / tensor_ranks,
          .tensor_rank = rank % tensor_ranks};
}

}  // namespace shoal::language
