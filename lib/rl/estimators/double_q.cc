// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/double_q.h"

#include <algorithm>
#include <cstddef>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double DoubleQValue(std::span<const float> online, std::span<const float> target) {
  SHOAL_CHECK(!online.empty() && online.size() == target.size());
  const auto best = std::max_element(online.begin(), online.end());
  return target[static_cast<std::size_t>(best - online.begin())];
}

double DoubleQTarget(double reward, double discount, std::span<const float> online,
                     std::span<const float> target) {
  return reward + discount * DoubleQValue(online, target);
}

}  // namespace shoal::estimators
