// SPDX-License-Identifier: Apache-2.0
// The losses that algorithms are made of, row by row, with their derivatives. Pure functions over
// tensors [R], to be minimised. Shows torch; functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {

// How far probability ratios count.
struct RatioClip {
  // Where the policy has already moved as the advantage asks: 1 +- this.
  double near = 0.2;
  // Where the advantage is negative: at most this. Above 1; 0 means without bound. Without it one
  // action that the behaviour policy took by a rare chance, and that has become likely, outweighs
  // all else.
  double far = 3;
};

// pi / mu. The exponent is held within +-20, so a forced action that the policy would never take
// stays finite.
at::Tensor ImportanceWeights(const PolicyRows& rows);

// -min(r A, clip(r, 1 - near, 1 + near) A) with the importance weight r, and for A < 0 at most
// -far A: PPO's clipped loss (Schulman et al. 2017, equation 7) with the second bound of dual-clip
// PPO (Ye et al. 2020, "Mastering Complex Control in MOBA Games"). One metric: 1 where r is further
// than `near` from 1.
PolicyTerms ClippedLoss(const PolicyRows& rows, const RatioClip& clip);

// -log_probability * A (Williams 1992).
PolicyTerms LogProbabilityLoss(const PolicyRows& rows);

// Adds -coefficient * entropy to `terms`.
void AddEntropyBonus(const PolicyRows& rows, double coefficient, PolicyTerms& terms);

// coefficient * (value - target)^2 / 2. With `clip` > 0 the larger of that and the same for a value
// that may be at most `clip` away from the behaviour policy's.
ValueTerms SquaredLoss(const ValueRows& rows, double coefficient, double clip);

}  // namespace shoal::algorithms
