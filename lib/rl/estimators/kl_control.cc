// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/kl_control.h"

#include <algorithm>

namespace shoal::estimators {

double AdaptiveKlCoefficient(double coefficient, double kl, double target) {
  if (kl < target / 1.5) coefficient /= 2;
  if (kl > target * 1.5) coefficient *= 2;
  return std::clamp(coefficient, 1e-8, 1e8);
}

double KlAdaptiveRate(double rate, double kl, double target) {
  if (kl > 2 * target) rate /= 1.5;
  if (kl < target / 2) rate *= 1.5;
  return std::clamp(rate, 1e-6, 1e-2);
}

}  // namespace shoal::estimators
