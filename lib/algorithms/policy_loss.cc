// SPDX-License-Identifier: Apache-2.0
#include "algorithms/policy_loss.h"

#include <algorithm>
#include <cmath>

namespace shoal::algorithms {

PolicyLoss ClippedPolicyLoss(double log_probability, double behaviour, double advantage,
                             const RatioClip& clip) {
  const double ratio = std::exp(std::clamp(log_probability - behaviour, -20.0, 20.0));
  const double plain = ratio * advantage;
  const double bounded = std::clamp(ratio, 1 - clip.near, 1 + clip.near) * advantage;
  PolicyLoss result;
  result.ratio = ratio;
  result.clipped = std::abs(ratio - 1) > clip.near;
  result.loss = -std::min(plain, bounded);
  result.by_log_probability = plain <= bounded ? -plain : 0;
  if (advantage < 0 && clip.far > 0 && result.loss > -clip.far * advantage) {
    result.loss = -clip.far * advantage;
    result.by_log_probability = 0;
  }
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
