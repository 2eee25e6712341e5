// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/group_advantages.h"

#include <cmath>
#include <cstddef>

namespace shoal::estimators {
namespace {

constexpr double kLeastDeviation = 1e-6;

}  // namespace

std::vector<float> GroupAdvantages(std::span<const float> outcome, GroupDeviation deviation) {
  std::vector<float> advantages(outcome.size());
  if (outcome.size() < 2) return advantages;
  const auto count = static_cast<double>(outcome.size());
  double sum = 0;
  for (const float value : outcome) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const float value : outcome) squares += (value - mean) * (value - mean);
  const double divisor = deviation == GroupDeviation::kSample ? count - 1 : count;
  const double spread = std::sqrt(squares / divisor);
  if (!std::isfinite(spread) || spread <= kLeastDeviation) return advantages;
  const double unit = deviation == GroupDeviation::kNone ? 1 : spread;
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    advantages[i] = static_cast<float>((outcome[i] - mean) / unit);
  }
  return advantages;
}

}  // namespace shoal::estimators
