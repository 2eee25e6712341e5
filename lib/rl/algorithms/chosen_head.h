// SPDX-License-Identifier: Apache-2.0
// The head in training where the loss needs one number of a row alone, that of its action: a query
// meets the key of this action and no other. It computes on any device, and autograd finds the
// derivatives.
//
// This header shows torch and is for this folder only. Throws what torch throws. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/batched_head.h"
#include "rl/algorithms/head_loss.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

class ChosenHead {
 public:
  // Borrows the network.
  explicit ChosenHead(const model::Network& network) : network_(network) {}

  // As BatchedHead::Run does for all values. It calls `loss` at most once. With candidates, rows
  // whose action is negative are skipped. REQUIRES: an action is below the number of its row's
  // actions.
  BatchedHead::Derivatives Run(const UnrollBatch& batch, const BatchTensors& tensors,
                               std::span<const std::int64_t> rows, const IndexList& actions,
                               const BatchedHead::Rows& inputs, const HeadLoss& loss) const;

 private:
  const model::Network& network_;
};

}  // namespace shoal::algorithms
