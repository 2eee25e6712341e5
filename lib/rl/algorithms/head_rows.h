// SPDX-License-Identifier: Apache-2.0
// Forward and backward pass over rows of a head's numbers, of unequal length, in place, on a CPU:
// softmax where they are logits, a choice of one number and their mean where they are action
// values.
//
// This header shows torch and is for this folder only. REQUIRES: tensors lie on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "rl/algorithms/head_loss.h"
#include "rl/model/action_values.h"
#include "rl/model/candidate_softmax.h"

namespace shoal::algorithms {

// One row: its numbers, the index of its action, and what the loss needs of all numbers, which is
// cheapest to compute while they are in the cache. An illegal action has the number kIllegalLogit.
struct HeadRow {
  HeadRow(std::span<float> row_numbers, std::int64_t row_action, HeadOutput output)
      : numbers(row_numbers), action(row_action) {
    if (output == HeadOutput::kLogits) {
      softmax = model::Summarise(numbers);
    } else {
      values = model::SummariseActionValues(numbers);
    }
  }

  std::span<float> numbers;
  std::int64_t action;
  model::SoftmaxRow softmax;
  model::ActionValueRow values;
};

// Calls `loss` with the rows, which all are of kind `output`, and replaces their numbers by the
// derivatives of the loss. When the loss asks for no derivatives, it leaves the numbers unchanged
// and returns false. `positions` [R] become HeadRows::positions.
bool HeadBackward(std::span<const HeadRow> rows, std::span<const std::int64_t> positions,
                  HeadOutput output, const HeadLoss& loss);

}  // namespace shoal::algorithms
