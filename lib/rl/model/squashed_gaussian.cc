// SPDX-License-Identifier: Apache-2.0
#include "rl/model/squashed_gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::model {
namespace {

double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

}  // namespace

SquashedGaussian::SquashedGaussian(double mean, double log_deviation)
    : mean_(mean),
      log_deviation_(std::clamp(log_deviation, kLeastLogDeviation, kGreatestLogDeviation)) {}

double SquashedGaussian::Action(double noise) const {
  return std::tanh(mean_ + std::exp(log_deviation_) * noise);
}

double SquashedGaussian::LogDensity(double noise) const {
  using std::numbers::ln2;
  const double u = mean_ + std::exp(log_deviation_) * noise;
  const double normal =
      -0.5 * noise * noise - log_deviation_ - 0.5 * std::log(2 * std::numbers::pi);
  return normal - 2 * (ln2 - u - Softplus(-2 * u));
}

double NormalOf(double first, double second) {
  return std::sqrt(-2 * std::log1p(-first)) * std::cos(2 * std::numbers::pi * second);
}

}  // namespace shoal::model
