// SPDX-License-Identifier: Apache-2.0
// What each of several tensor-parallel ranks has of a GPT-2's parameters (Shoeybi et al.,
// "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism", 2019).
//
// Attention is divided by heads and the feed-forward layer by its inner units: c_attn and c_fc,
// with their biases, by columns, and both c_proj by rows. Every rank has the whole of the rest: the
// embeddings, the norms and the biases of c_proj. A matrix is [in, out], and the columns of c_attn
// are those of queries, keys and values, heads within each, so that a rank has its heads of all
// three.
//
// Arrays are flat, in the order of Gpt2Layout: `whole` is the model's, `shard` a rank's.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "text/language/gpt2_config.h"

namespace shoal::language {

class TensorShards {
 public:
  // REQUIRES: config.Validate() is OK, and `ranks` divides the heads.
  TensorShards(const Gpt2Config& config, std::int64_t ranks);

  std::int64_t ranks() const { return ranks_; }
  // Of the whole model, and of a rank. Both have the same parameters in the same order.
  const model::ParameterLayout& whole() const { return whole_; }
  const model::ParameterLayout& shard() const { return shard_; }
  // Whether every rank has the whole of this parameter.
  bool replicated(std::size_t parameter) const { return runs_[parameter] == 0; }

  // Returns what a rank has of a whole array. REQUIRES: `whole` has its size.
  std::vector<float> ShardOf(std::span<const float> whole, std::int64_t rank) const;
  // Copies what a rank has of one parameter, an array of its size, into its places in a whole
  // array.
  void Place(std::size_t parameter, std::int64_t rank, std::span<const float> part,
             std::span<float> whole) const;

 private:
  // Calls visit(place in `whole`, place in the rank's part, length) for each run of numbers that
  // lie together in both.
  template <typename Visit>
  void ForEachRun(std::size_t parameter, std::int64_t rank, const Visit& visit) const;

  std::int64_t ranks_;
  model::ParameterLayout whole_;
  model::ParameterLayout shard_;
  // By parameter: the runs of numbers that each rank has of it, or 0 where it is replicated.
  std::vector<std::int64_t> runs_;
};

}  // namespace shoal::language
