// SPDX-License-Identifier: Apache-2.0
// The losses of one row and their derivatives: pure functions, to be minimised.
#pragma once

namespace shoal::algorithms {

struct PolicyLoss {
  double loss = 0;
  // Derivative by the log-probability of the row's action.
  double by_log_probability = 0;
  // pi / mu, 1 for REINFORCE.
  double ratio = 1;
  bool clipped = false;
};

// How far probability ratios count.
struct RatioClip {
  // Where the policy has already moved as the advantage asks: 1 +- this.
  double near = 0.2;
  // Where the advantage is negative: at most this. Above 1; 0: however far. Without it one action
  // that the behaviour policy took by a rare chance, and that has become likely, outweighs all
  // else.
  double far = 3;
};

// -min(r A, clip(r, 1 - near, 1 + near) A) with r = exp(log_probability - behaviour), and for A < 0
// at most -far A: PPO's clipped loss (Schulman et al. 2017, equation 7) with the second bound of
// dual-clip PPO (Ye et al. 2020, "Mastering Complex Control in MOBA Games"). The exponent is held
// within +-20, so a forced action that the policy would never take stays finite.
PolicyLoss ClippedPolicyLoss(double log_probability, double behaviour, double advantage,
                             const RatioClip& clip);

// -log_probability * A.
PolicyLoss ReinforceLoss(double log_probability, double advantage);

// Cross-entropy with an expert who is certain: -log_probability.
PolicyLoss CloningLoss(double log_probability);

struct ValueLoss {
  double loss = 0;
  double by_value = 0;
};

// (value - target)^2 / 2; with clip > 0 the larger of that and the same for a value that may be at
// most `clip` away from `behaviour`.
ValueLoss SquaredValueLoss(double value, double behaviour, double target, double clip);

}  // namespace shoal::algorithms
