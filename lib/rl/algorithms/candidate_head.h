// SPDX-License-Identifier: Apache-2.0
// The pointer head in training: computes logits over the candidates of each row, and the gradient
// of a loss with respect to the rows' queries.
//
// A row's logits are <query, key> + scale * cosine + shift + the weights of the candidate's marks,
// where the key is W e for the candidate's embedding e. Rows that share a catalog are computed
// together, whatever their overlays are: one product for a chunk of rows, softmax row by row while
// the row is in a core's cache, and one product back. Memory of the size of a catalog is freed with
// its chunk. The few candidates that an overlay appends are added row by row.
//
// Since <q, W e> = <W^T q, e>, a product takes either the queries and the catalog's keys, or the
// queries lifted to the embeddings' space and the embeddings themselves. Lifted, a row costs D / P
// times as much, but neither the keys nor their gradient are computed, and the gradient of W is one
// small product for all rows. Each catalog takes the way that costs fewer multiplications.
//
// This header shows torch and is for this folder only. Throws what torch throws. Computes on the
// CPU. Not thread-safe.
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
  // Borrows the network. The gradient of the candidates' projection is added to `key_gradient` [P,
  // D], which is undefined when the projection is frozen.
  CandidateHead(const model::Network& network, const at::Tensor& key_gradient)
      : network_(network), key_gradient_(key_gradient) {}

  // What the network makes of the rows of a minibatch, or the derivatives by it.
  struct Rows {
    at::Tensor queries;       // [R, P]
    at::Tensor mark_weights;  // [R, K]; undefined when K is 0
  };

  // Calls `loss` for chunks of rows until each row was seen once, and returns the derivatives by
  // `inputs`. `rows` [R] are row numbers of the batch and `actions` [R] an action of each; rows
  // without a similarity are skipped. The tensors of `inputs` are contiguous.
  Rows Backward(const UnrollBatch& batch, const BatchTensors& tensors,
                std::span<const std::int64_t> rows, std::span<const std::int64_t> actions,
                const Rows& inputs, HeadOutput output, const HeadLoss& loss);

 private:
  struct Chunk;

  // One side of a product: a vector for each row of the minibatch, and its derivative.
  struct Vectors {
    at::Tensor values;  // [R, F]
    at::Tensor by;      // [R, F]
  };

  // Returns the keys of the table's own candidates; the next function adds their gradient.
  at::Tensor Keys(const std::shared_ptr<const model::CandidateTable>& table);
  void AddKeyGradient(const model::CandidateTable& table, const at::Tensor& by_keys);
  // `features` [N, F] are the catalog's keys, or its embeddings in binary16, and `vectors` the
  // queries or the lifted queries. `appended` has the vectors for own candidates of overlays, which
  // are compared with AppendedFeatures. `marks` has the weights of the marks.
  void AddChunk(const Chunk& chunk, const at::Tensor& features, at::Tensor& by_features,
                Vectors& vectors, Vectors& appended, Vectors& marks, const HeadLoss& loss);
  at::Tensor AppendedFeatures(const std::shared_ptr<const model::CandidateTable>& table);

  const model::Network& network_;
  const at::Tensor key_gradient_;
  // The keys of a frozen projection.
  model::KeyCache keys_;
};

}  // namespace shoal::algorithms
