// SPDX-License-Identifier: Apache-2.0
#include "training/schedule.h"

#include <algorithm>

namespace shoal::training {

double LinearRate(double start, std::int64_t step, std::int64_t steps) {
  if (steps <= 0 || step >= steps) return 0;
  return start * (1 - static_cast<double>(step) / static_cast<double>(steps));
}

double KlAdaptiveRate(double rate, double kl, double target) {
  if (kl > 2 * target) rate /= 1.5;
  if (kl < target / 2) rate *= 1.5;
  return std::clamp(rate, 1e-6, 1e-2);
}

}  // namespace shoal::training
