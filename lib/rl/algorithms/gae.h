// SPDX-License-Identifier: Apache-2.0
// Generalised advantage estimation (Schulman et al. 2016) as a pure function.
#pragma once

#include <span>
#include <vector>

namespace shoal::algorithms {

// One sequence of T steps.
struct AdvantageSteps {
  std::span<const float> reward;  // [T]
  std::span<const float> value;   // [T+1]
  // The factor on the next value: gamma, or 0 where the step terminated its episode. [T]
  std::span<const float> discount;
  // The factor on the next advantage: lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
};

// Returns A_t = r_t + discount_t V_{t+1} - V_t + discount_t trace_t A_{t+1}. If every trace is 1,
// A_t + V_t is the discounted return with the last value as its tail. REQUIRES: the sizes above.
std::vector<float> GeneralisedAdvantages(const AdvantageSteps& steps);

}  // namespace shoal::algorithms
