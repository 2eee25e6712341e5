// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/elites.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "platform/runtime/check.h"

namespace shoal::estimators {
namespace {

// REQUIRES: `sorted` is not empty.
double PercentileOf(const std::vector<float>& sorted, double percentile) {
  const double position = percentile / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double low = sorted[below];
  const double high = sorted[std::min(below + 1, sorted.size() - 1)];
  const double part = position - static_cast<double>(below);
  // Two infinite returns have no difference.
  return part == 0 || low == high ? low : low + part * (high - low);
}

}  // namespace

std::vector<std::size_t> Elites(std::span<const float> episode_return, double percentile) {
  SHOAL_CHECK(percentile >= 0 && percentile <= 100);
  std::vector<float> sorted;
  std::copy_if(episode_return.begin(), episode_return.end(), std::back_inserter(sorted),
               [](float value) { return !std::isnan(value); });
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const double bound = PercentileOf(sorted, percentile);
  std::vector<std::size_t> elites;
  for (std::size_t i = 0; i < episode_return.size(); ++i) {
    if (episode_return[i] >= bound) elites.push_back(i);
  }
  return elites;
}

}  // namespace shoal::estimators
