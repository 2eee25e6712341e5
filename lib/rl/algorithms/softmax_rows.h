// SPDX-License-Identifier: Apache-2.0
// Forward and backward of softmax over rows of logits of unequal length, in place, on a CPU.
//
// Shows torch: for this folder only. REQUIRES: tensors lie on the CPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/head_loss.h"

namespace shoal::algorithms {

// One row: its logits, and which of them is the action's.
struct LogitRow {
  std::span<float> logits;
  std::int64_t action = 0;
};

// Calls `loss` with the rows, and replaces their logits by the derivatives of the loss by them; or
// leaves them when the loss asks for no derivatives. `positions` [R]: what the rows are called in
// HeadRows. Returns false when the logits were left.
bool SoftmaxBackward(std::span<const LogitRow> rows, std::span<const std::int64_t> positions,
                     const HeadLoss& loss);

}  // namespace shoal::algorithms
