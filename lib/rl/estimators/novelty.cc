// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/novelty.h"

#include <algorithm>
#include <cmath>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double EpisodicNovelty(std::span<const float> squared_distance, double mean,
                       const EpisodicNoveltyOptions& options) {
  if (squared_distance.empty()) return 0;
  double kernels = 0;
  for (const float distance : squared_distance) {
    const double relative = mean > 0 ? distance / mean : 0;
    const double apart = std::max(relative - options.cluster_distance, 0.0);
    kernels += options.kernel_epsilon / (apart + options.kernel_epsilon);
  }
  const double similarity = std::sqrt(kernels) + options.constant;
  return similarity > options.maximum_similarity ? 0 : 1 / similarity;
}

double IntrinsicReward(double episodic, double error, double mean, double deviation, double limit) {
  SHOAL_CHECK(limit >= 1);
  const double alpha = deviation > 0 ? 1 + (error - mean) / deviation : 1;
  return episodic * std::clamp(alpha, 1.0, limit);
}

}  // namespace shoal::estimators
