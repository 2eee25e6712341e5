// SPDX-License-Identifier: Apache-2.0
// A rank's part of a sum around the ring whose numbers travel in bfloat16, with error feedback
// (Seide et al., "1-Bit Stochastic Gradient Descent and its Application to Data-Parallel
// Distributed Training of Speech DNNs", 2014; Karimireddy et al., "Error Feedback Fixes SignSGD and
// other Gradient Compression Schemes", 2019).
//
// Each rank passes on each number once. It adds what came to its own number in float32, rounds the
// sum, and keeps what rounding took for the next sum. So the sum that all ranks get and what all
// have kept add up to what all have given. Infinities and NaNs are passed on, and nothing of them
// is kept. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rl/collectives/elementwise.h"
#include "rl/collectives/rank_share.h"

namespace shoal::collectives {

class RoundedSum {
 public:
  // `residual` holds what this rank kept of sums before, and `rounded` gets what it passes on. Both
  // have the size of `values` and outlive this.
  RoundedSum(std::span<const float> values, std::span<float> residual,
             std::span<std::uint16_t> rounded);

  // Rounds a part to which nothing is added, which is where its way around the ring begins.
  void RoundFirst(const RankShare& part);
  // For an array of `rounded`: adds what came to this rank's numbers. It refers to this.
  Elementwise operation();

 private:
  static void Combine(void* self, std::byte* into, const std::byte* part, std::size_t bytes);

  const std::span<float> residual_;
  const std::span<std::uint16_t> rounded_;
};

// Writes rounded numbers as floats. REQUIRES: equal sizes.
void Widen(std::span<const std::uint16_t> rounded, std::span<float> values);

}  // namespace shoal::collectives
