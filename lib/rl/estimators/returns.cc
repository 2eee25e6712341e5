// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/returns.h"

#include <algorithm>

#include "platform/runtime/check.h"

namespace shoal::estimators {
namespace {

void CheckSizes(const ReturnSteps& steps) {
  const std::size_t length = steps.reward.size();
  SHOAL_CHECK(steps.discount.size() == length && steps.trace.size() == length);
  SHOAL_CHECK(steps.next_value.size() == length);
}

// Returns the return of step `t`, given that of the step after it.
double ReturnAt(const ReturnSteps& steps, std::size_t t, double next) {
  const double trace = steps.trace[t];
  return steps.reward[t] + steps.discount[t] * ((1 - trace) * steps.next_value[t] + trace * next);
}

}  // namespace

std::vector<float> DiscountedReturns(std::span<const float> reward, std::span<const float> discount,
                                     double tail) {
  SHOAL_CHECK(discount.size() == reward.size());
  std::vector<float> returns(reward.size());
  double next = tail;
  for (std::size_t t = reward.size(); t-- > 0;) {
    next = reward[t] + discount[t] * next;
    returns[t] = static_cast<float>(next);
  }
  return returns;
}

std::vector<float> LambdaReturns(const ReturnSteps& steps) {
  CheckSizes(steps);
  const std::size_t length = steps.reward.size();
  std::vector<float> returns(length);
  double next = length > 0 ? steps.next_value[length - 1] : 0;
  for (std::size_t t = length; t-- > 0;) {
    next = ReturnAt(steps, t, next);
    returns[t] = static_cast<float>(next);
  }
  return returns;
}

std::vector<float> NStepReturns(const ReturnSteps& steps, std::size_t n) {
  CheckSizes(steps);
  SHOAL_CHECK(n >= 1);
  const std::size_t length = steps.reward.size();
  std::vector<float> returns(length);
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t end = t + std::min(n, length - t);
    double next = steps.next_value[end - 1];
    for (std::size_t i = end; i-- > t;) next = ReturnAt(steps, i, next);
    returns[t] = static_cast<float>(next);
  }
  return returns;
}

std::vector<float> TransformedNStepReturns(const ReturnSteps& steps, std::size_t n,
                                           ValueTransform transform) {
  const std::vector<float> next_value = Invert(transform, steps.next_value);
  return Apply(transform, NStepReturns({.reward = steps.reward,
                                        .discount = steps.discount,
                                        .trace = steps.trace,
                                        .next_value = next_value},
                                       n));
}

}  // namespace shoal::estimators
