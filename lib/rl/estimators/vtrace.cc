// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/vtrace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "platform/runtime/check.h"

namespace shoal::estimators {

VtraceEstimate Vtrace(const VtraceSteps& steps, const VtraceOptions& options) {
  const std::size_t length = steps.reward.size();
  SHOAL_CHECK(steps.value.size() == length + 1 && steps.log_ratio.size() == length);
  SHOAL_CHECK(steps.discount.size() == length && steps.trace.size() == length);
  VtraceEstimate targets{std::vector<float>(length), std::vector<float>(length)};
  double correction = 0;
  double next_target = length > 0 ? steps.value[length] : 0;
  for (std::size_t t = length; t-- > 0;) {
    const double ratio = std::exp(static_cast<double>(steps.log_ratio[t]));
    const double discount = steps.discount[t];
    const double next_value = steps.value[t + 1];
    const double value = steps.value[t];
    const double error =
        std::min(options.clip_rho, ratio) * (steps.reward[t] + discount * next_value - value);
    const double trace = steps.trace[t];
    const double bootstrap = trace * next_target + (1 - trace) * next_value;
    targets.advantage[t] = static_cast<float>(std::min(options.clip_advantage_rho, ratio) *
                                              (steps.reward[t] + discount * bootstrap - value));
    correction = error + discount * trace * std::min(options.clip_c, ratio) * correction;
    next_target = value + correction;
    targets.value[t] = static_cast<float>(next_target);
  }
  return targets;
}

}  // namespace shoal::estimators
