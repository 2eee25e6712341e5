// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/retrace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double ExpectedValue(std::span<const float> probability, std::span<const float> action_value,
                     ValueTransform transform) {
  SHOAL_CHECK(probability.size() == action_value.size());
  double sum = 0;
  for (std::size_t action = 0; action < probability.size(); ++action) {
    sum += probability[action] * Invert(transform, double{action_value[action]});
  }
  return sum;
}

std::vector<float> RetraceTargets(const RetraceSteps& steps) {
  const std::size_t length = steps.reward.size();
  SHOAL_CHECK(steps.log_ratio.size() == length && steps.discount.size() == length);
  SHOAL_CHECK(steps.trace.size() == length && steps.action_value.size() == length);
  SHOAL_CHECK(steps.next_value.size() == length);
  std::vector<float> targets(length);
  // c_{t+1} (G_{t+1} - Q(s_{t+1}, a_{t+1})) without the trace, which is the step's own.
  double correction = 0;
  for (std::size_t t = length; t-- > 0;) {
    const double target =
        steps.reward[t] + steps.discount[t] * (steps.next_value[t] + steps.trace[t] * correction);
    const double ratio = std::exp(static_cast<double>(steps.log_ratio[t]));
    correction = std::min(1.0, ratio) * (target - steps.action_value[t]);
    targets[t] = static_cast<float>(target);
  }
  return targets;
}

std::vector<float> TransformedRetraceTargets(const RetraceSteps& steps, ValueTransform transform) {
  const std::vector<float> action_value = Invert(transform, steps.action_value);
  RetraceSteps plain = steps;
  plain.action_value = action_value;
  return Apply(transform, RetraceTargets(plain));
}

}  // namespace shoal::estimators
