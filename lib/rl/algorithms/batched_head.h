// SPDX-License-Identifier: Apache-2.0
// The head in training for whole batches on any device: its numbers are torch's operations on all
// rows of a catalog at once, and autograd finds the derivatives. CandidateHead and HeadBackward do
// the same row by row on a CPU.
//
// All numbers of a minibatch are in memory together: rows x candidates x 4 bytes, several times.
// This header shows torch and is for this folder only. Throws what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/head_loss.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

class BatchedHead {
 public:
  // Borrows the network. `trains_keys` says whether the projection of candidates gets gradients.
  BatchedHead(const model::Network& network, bool trains_keys)
      : network_(network), trains_keys_(trains_keys) {}

  // What the network makes of the rows of a minibatch, with gradients where they are wanted.
  struct Rows {
    at::Tensor head;          // queries [R, P], or numbers [R, n] of a discrete head
    at::Tensor mark_weights;  // [R, K]; undefined when K is 0
  };
  // What autograd has to go back from, and the derivatives of the loss by it.
  struct Derivatives {
    std::vector<at::Tensor> of;
    std::vector<at::Tensor> by;
  };

  // Calls `loss` until each row was seen once, without gradients, and returns what it answered.
  // `rows` [R] are row numbers of the batch and `actions` [R] an action of each; rows with
  // candidates but without a similarity are skipped.
  Derivatives Run(const UnrollBatch& batch, const BatchTensors& tensors, const IndexList& rows,
                  const IndexList& actions, const Rows& inputs, HeadOutput output,
                  const HeadLoss& loss);

 private:
  at::Tensor Keys(const model::CandidateTable& table) const;

  const model::Network& network_;
  const bool trains_keys_;
  // The keys of a frozen projection.
  const model::KeyCache keys_;
};

}  // namespace shoal::algorithms
