// SPDX-License-Identifier: Apache-2.0
// The pointer head in training: logits over the candidates of each row, and the gradient of a loss
// by the rows' queries.
//
// A row's logits are <query, key> + scale * cosine + shift. Rows that share a catalog are computed
// together, whatever their overlays are: one product with the catalog's keys for a chunk of rows,
// softmax row by row while the row is in a core's cache, and one product back. Nothing of the size
// of a catalog outlives its chunk. What an overlay appends is added row by row; it is little.
//
// Shows torch: for this folder only. Throws what torch throws. Computes on the CPU. Not
// thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>

#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/head_loss.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

class CandidateHead {
 public:
  // Borrows the network. `key_gradient` [P, D] gets the gradient of the candidates' projection;
  // undefined when that is frozen.
  CandidateHead(const model::Network& network, const at::Tensor& key_gradient)
      : network_(network), key_gradient_(key_gradient) {}

  // `rows` [R]: numbers of rows of the batch; those without a similarity are passed over.
  // `queries` [R, P]. Calls `loss` until every other row was seen once, and returns the derivatives
  // by the queries, [R, P].
  at::Tensor Backward(const UnrollBatch& batch, const BatchTensors& tensors,
                      std::span<const std::int64_t> rows, const at::Tensor& queries,
                      const HeadLoss& loss);

 private:
  struct Chunk;

  // The keys of the table's own candidates, and where their gradient goes.
  at::Tensor Keys(const std::shared_ptr<const model::CandidateTable>& table);
  void AddKeyGradient(const model::CandidateTable& table, const at::Tensor& by_keys);
  void AddChunk(const Chunk& chunk, const at::Tensor& keys, at::Tensor& by_keys,
                at::Tensor& by_queries, const HeadLoss& loss);

  const model::Network& network_;
  const at::Tensor key_gradient_;
  // For a frozen projection.
  model::KeyCache keys_;
};

}  // namespace shoal::algorithms
