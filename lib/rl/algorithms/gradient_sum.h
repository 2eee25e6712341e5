// SPDX-License-Identifier: Apache-2.0
// The gradient of a minibatch with the sums over its rows, added up over the ranks.
//
// Both travel in one call. Compressed gradients travel in bfloat16 where the reducer compresses so
// many numbers (GradientReducer::compresses), and the sums apart from them, since they count rows.
// What rounding takes of a gradient is added to the next one of the same source.
//
// This header shows torch and is for this folder only. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::algorithms {

// What a gradient is of. Those of different sources are weighed differently in a step.
enum class GradientSource : std::uint8_t { kUnrolls, kDemonstrations };

class GradientSum {
 public:
  // Holds `size` zeros on `device`. `reducer` must outlive this.
  GradientSum(std::int64_t size, at::Device device, collectives::GradientReducer& reducer);

  // [size], in the same memory at any time.
  at::Tensor gradient() const { return numbers_.narrow(0, 0, size_); }
  void Clear();
  // Compresses the gradients that are summed from now on.
  void Compress() { compresses_ = true; }
  // Replaces the gradient and `sums` by their sums over all ranks. Returns the reducer's errors.
  absl::Status OverRanks(GradientSource source, MinibatchSums& sums);
  // Drops what rounding has taken, as after going back to other parameters.
  void DropResiduals();

 private:
  const std::int64_t size_;
  collectives::GradientReducer& reducer_;
  // The gradient, and room for a minibatch's sums.
  const at::Tensor numbers_;
  bool compresses_ = false;
  // By source, of this rank; empty where nothing has been taken.
  std::array<std::vector<float>, 2> residuals_;
};

}  // namespace shoal::algorithms
