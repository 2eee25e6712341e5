// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::algorithms {

PolicyLoss ClippedPolicyLoss(double log_probability, double behaviour, double advantage,
                             const RatioClip& clip) {
  const double ratio = std::exp(std::clamp(log_probability - behaviour, -20.0, 20.0));
  const double far = clip.far > 0 ? clip.far : std::numeric_limits<double>::infinity();
  const double least = advantage < 0 ? 1 - clip.near : 0;
  const double most = advantage < 0 ? far : 1 + clip.near;
  const double counted = std::min(std::max(ratio, least), most);
  PolicyLoss result;
  result.ratio = ratio;
  result.clipped = std::abs(ratio - 1) > clip.near;
  result.loss = -counted * advantage;
  result.by_log_probability = counted == ratio ? result.loss : 0;
  return result;
}

PolicyLoss ReinforceLoss(double log_probability, double advantage) {
  PolicyLoss result;
  result.loss = -log_probability * advantage;
  result.by_log_probability = -advantage;
  return result;
}

PolicyLoss CloningLoss(double log_probability) { return ReinforceLoss(log_probability, 1); }

ValueLoss SquaredValueLoss(double value, double behaviour, double target, double clip) {
  const double error = value - target;
  ValueLoss plain{error * error / 2, error};
  if (clip <= 0) return plain;
  const double held = std::clamp(value, behaviour - clip, behaviour + clip);
  const double held_error = held - target;
  if (held_error * held_error / 2 <= plain.loss) return plain;
  return {held_error * held_error / 2, held == value ? held_error : 0};
}

}  // namespace shoal::algorithms
