// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/generalised_advantages.h"

#include <cstddef>

#include "platform/runtime/check.h"

namespace shoal::estimators {

std::vector<float> GeneralisedAdvantages(const AdvantageSteps& steps) {
  const std::size_t length = steps.reward.size();
  SHOAL_CHECK(steps.value.size() == length + 1);
  SHOAL_CHECK(steps.discount.size() == length && steps.trace.size() == length);
  std::vector<float> advantage(length);
  double next = 0;
  for (std::size_t t = length; t-- > 0;) {
    const double discount = steps.discount[t];
    const double error = steps.reward[t] + discount * steps.value[t + 1] - steps.value[t];
    next = error + discount * steps.trace[t] * next;
    advantage[t] = static_cast<float>(next);
  }
  return advantage;
}

}  // namespace shoal::estimators
