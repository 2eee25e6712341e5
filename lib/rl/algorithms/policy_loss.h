// SPDX-License-Identifier: Apache-2.0
// The row-wise losses that algorithms consist of, with their derivatives. They are pure functions
// over tensors [R], to be minimised. This header shows torch; functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {

// The bounds on importance weights in PPO's loss.
struct RatioClip {
  // The bound 1 +- near, where the policy has already moved in the advantage's direction; 0 for no
  // bound.
  double near = 0.2;
  // The upper bound for a negative advantage: above 1, or 0 for no bound. Without it, one action
  // that was rare under the behaviour policy and has become likely outweighs all others.
  double far = 3;
};

// Returns pi / mu. The log-ratio is clamped to +-20, so the weight stays finite for a forced action
// that the policy would never take.
at::Tensor ImportanceWeights(const PolicyRows& rows);

// Returns -min(r A, clip(r, 1 - near, 1 + near) A) with the importance weight r, and for A < 0 at
// most -far A. This is PPO's clipped loss (Schulman et al. 2017, equation 7) with the second bound
// of dual-clip PPO (Ye et al. 2020, "Mastering Complex Control in MOBA Games"). The one metric is 1
// where r differs from 1 by more than `near`.
PolicyTerms ClippedLoss(const PolicyRows& rows, const RatioClip& clip);

// Returns -log(pi + floor) * A: with `floor` 0 -log_probability * A (Williams 1992), and above 0
// the loss of GA3C (Babaeizadeh et al. 2017, section 3.4), whose derivative vanishes where an
// action that an older policy took has become improbable. Without it, one such action could
// outweigh all others.
PolicyTerms LogProbabilityLoss(const PolicyRows& rows, double floor = 0);

// Adds -rows.weights.entropy * entropy to `terms`.
void AddEntropyBonus(const PolicyRows& rows, PolicyTerms& terms);

// Adds rows.weights.kl * (r - 1 - log r) to `terms`, with the importance weight r. Its mean over
// actions of the behaviour policy is KL(behaviour || current), and no row of it is negative
// (Schulman 2020, "Approximating KL Divergence", k3).
void AddKlPenalty(const PolicyRows& rows, PolicyTerms& terms);

// Returns coefficient * (value - target)^2 / 2. With `clip` > 0 it returns the larger of that and
// the same loss for the value clamped to within `clip` of the behaviour policy's.
ValueTerms SquaredLoss(const ValueRows& rows, double coefficient, double clip);

}  // namespace shoal::algorithms
