// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/value_transform.h"

#include <cmath>

#include "platform/runtime/check.h"

namespace shoal::estimators {
namespace {

template <typename Function>
std::vector<float> Each(std::span<const float> values, const Function& function) {
  std::vector<float> results;
  results.reserve(values.size());
  for (const float value : values) results.push_back(static_cast<float>(function(value)));
  return results;
}

}  // namespace

double SignedHyperbolic(double x, double epsilon) {
  SHOAL_CHECK(epsilon > 0);
  return std::copysign(std::sqrt(std::abs(x) + 1) - 1, x) + epsilon * x;
}

double InverseSignedHyperbolic(double x, double epsilon) {
  SHOAL_CHECK(epsilon > 0);
  const double root =
      (std::sqrt(1 + 4 * epsilon * (std::abs(x) + 1 + epsilon)) - 1) / (2 * epsilon);
  return std::copysign(root * root - 1, x);
}

double Apply(ValueTransform transform, double value) {
  return transform == ValueTransform::kIdentity ? value : SignedHyperbolic(value);
}

double Invert(ValueTransform transform, double value) {
  return transform == ValueTransform::kIdentity ? value : InverseSignedHyperbolic(value);
}

std::vector<float> Apply(ValueTransform transform, std::span<const float> values) {
  return Each(values, [transform](float value) { return Apply(transform, double{value}); });
}

std::vector<float> Invert(ValueTransform transform, std::span<const float> values) {
  return Each(values, [transform](float value) { return Invert(transform, double{value}); });
}

}  // namespace shoal::estimators
