// SPDX-License-Identifier: Apache-2.0
// Reward clipping: functions of single rewards that bring tasks of different scales together. They
// change what is learned, as several small rewards may count more than one large one.
#pragma once

#include <cstdint>

namespace shoal::estimators {

enum class RewardClipping : std::uint8_t { kNone, kSymmetric, kAsymmetric };

// Returns the reward clamped to [-limit, limit] (Mnih et al. 2015, "Human-level control", with
// limit 1). REQUIRES: limit >= 0.
double ClippedReward(double reward, double limit = 1);

// Returns 0.3 min(tanh r, 0) + 5 max(tanh r, 0), which makes much of gains and little of losses
// (Espeholt et al. 2018, "IMPALA", "optimistic asymmetric clipping" of DMLab-30).
double AsymmetricReward(double reward);

// Returns what `clipping` makes of the reward; kSymmetric alone has a limit.
double ClippedReward(RewardClipping clipping, double reward, double limit);

}  // namespace shoal::estimators
