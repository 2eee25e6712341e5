// SPDX-License-Identifier: Apache-2.0
// Forward and backward pass of softmax over rows of logits of unequal length, in place, on a CPU.
//
// This header shows torch and is for this folder only. REQUIRES: tensors lie on the CPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/head_loss.h"
#include "rl/model/candidate_softmax.h"

namespace shoal::algorithms {

// One row: its logits, the index of its action, and the softmax sums, which are cheapest to compute
// while the logits are in the cache.
struct LogitRow {
  LogitRow(std::span<float> row_logits, std::int64_t row_action)
      : logits(row_logits), action(row_action), softmax(model::Summarise(row_logits)) {}

  std::span<float> logits;
  std::int64_t action;
  model::SoftmaxRow softmax;
};

// Calls `loss` with the rows and replaces their logits by the derivatives of the loss. When the
// loss asks for no derivatives, it leaves the logits unchanged and returns false. `positions` [R]
// become HeadRows::positions.
bool SoftmaxBackward(std::span<const LogitRow> rows, std::span<const std::int64_t> positions,
                     const HeadLoss& loss);

}  // namespace shoal::algorithms
