// SPDX-License-Identifier: Apache-2.0
#include "rl/model/gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "rl/model/squashed_gaussian.h"

namespace shoal::model {

Gaussian::Gaussian(double mean, double log_deviation)
    : mean_(mean),
      log_deviation_(std::clamp(log_deviation, kLeastLogDeviation, kGreatestLogDeviation)) {}

float Gaussian::Action(double noise) const {
  return static_cast<float>(mean_ + std::exp(log_deviation_) * noise);
}

double Gaussian::LogDensity(double action) const {
  const double noise = (action - mean_) / std::exp(log_deviation_);
  return -0.5 * noise * noise - log_deviation_ - 0.5 * std::log(2 * std::numbers::pi);
}

double Gaussian::Entropy() const {
  return log_deviation_ + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
}

}  // namespace shoal::model
