// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/runtime/check.h"

namespace shoal::estimators {

std::vector<double> UpperBounds(std::span<const Play> window, std::size_t arms, double width) {
  std::vector<double> bounds(arms);
  std::vector<double> counts(arms);
  for (const Play& play : window) {
    SHOAL_CHECK(play.arm < arms);
    bounds[play.arm] += play.reward;
    counts[play.arm] += 1;
  }
  for (std::size_t arm = 0; arm < arms; ++arm) {
    bounds[arm] = counts[arm] > 0 ? bounds[arm] / counts[arm] + width * std::sqrt(1 / counts[arm])
                                  : std::numeric_limits<double>::infinity();
  }
  return bounds;
}

std::size_t ChooseArm(std::span<const double> upper_bound, double epsilon,
                      runtime::Random& random) {
  SHOAL_CHECK(!upper_bound.empty());
  const auto best = std::max_element(upper_bound.begin(), upper_bound.end());
  const auto greedy = static_cast<std::size_t>(best - upper_bound.begin());
  if (std::isinf(*best) || random.Uniform() >= epsilon) return greedy;
  return static_cast<std::size_t>(random.Below(upper_bound.size()));
}

}  // namespace shoal::estimators
