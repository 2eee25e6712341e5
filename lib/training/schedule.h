// SPDX-License-Identifier: Apache-2.0
// Learning rates over time: pure functions.
#pragma once

#include <cstdint>

namespace shoal::training {

// From `start` at step 0 straight down to 0 at `steps` and after.
double LinearRate(double start, std::int64_t step, std::int64_t steps);

// The rate for the next update after one that moved the policy by `kl`: divided by 1.5 above twice
// the target, multiplied by 1.5 below half of it; within [1e-6, 1e-2].
double KlAdaptiveRate(double rate, double kl, double target);

}  // namespace shoal::training
