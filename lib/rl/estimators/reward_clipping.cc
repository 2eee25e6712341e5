// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/reward_clipping.h"

#include <algorithm>
#include <cmath>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double ClippedReward(double reward, double limit) {
  SHOAL_CHECK(limit >= 0);
  return std::clamp(reward, -limit, limit);
}

double AsymmetricReward(double reward) {
  const double squashed = std::tanh(reward);
  return 0.3 * std::min(squashed, 0.0) + 5 * std::max(squashed, 0.0);
}

double ClippedReward(RewardClipping clipping, double reward, double limit) {
  switch (clipping) {
    case RewardClipping::kNone:
      break;
    case RewardClipping::kSymmetric:
      return ClippedReward(reward, limit);
    case RewardClipping::kAsymmetric:
      return AsymmetricReward(reward);
  }
  return reward;
}

}  // namespace shoal::estimators
