// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/priorities.h"

#include <algorithm>
#include <cmath>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double ProportionalPriority(double error, double epsilon) { return std::abs(error) + epsilon; }

double SequencePriority(std::span<const float> error, double eta) {
  if (error.empty()) return 0;
  double greatest = 0;
  double sum = 0;
  for (const float signed_error : error) {
    const double size = std::abs(static_cast<double>(signed_error));
    greatest = std::max(greatest, size);
    sum += size;
  }
  return eta * greatest + (1 - eta) * sum / static_cast<double>(error.size());
}

std::vector<double> PriorityProbabilities(std::span<const double> priority, double alpha) {
  SHOAL_CHECK(alpha >= 0);
  std::vector<double> probabilities(priority.size());
  if (priority.empty()) return probabilities;
  // Divided by the greatest priority, no power overflows.
  const double greatest = *std::max_element(priority.begin(), priority.end());
  if (alpha > 0 && greatest == 0) return probabilities;
  double sum = 0;
  for (std::size_t i = 0; i < priority.size(); ++i) {
    probabilities[i] = alpha == 0 ? 1 : std::pow(priority[i] / greatest, alpha);
    sum += probabilities[i];
  }
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

double ImportanceWeight(double probability, double least, double beta) {
  SHOAL_CHECK(least > 0 && probability > 0 && beta >= 0);
  return std::pow(std::min(least / probability, 1.0), beta);
}

}  // namespace shoal::estimators
