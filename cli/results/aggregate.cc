// SPDX-License-Identifier: Apache-2.0
#include "cli/results/aggregate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

namespace shoal::cli {
namespace {

constexpr std::size_t kResamples = 2000;

// A percentile of sorted values, linear between them.
double Percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

double ValueAt(const Curve& curve, double x) {
  const auto after = std::upper_bound(
      curve.begin(), curve.end(), x,
      [](double place, const std::pair<double, double>& point) { return place < point.first; });
  if (after == curve.end()) return curve.back().second;
  if (after == curve.begin()) return curve.front().second;
  const auto before = std::prev(after);
  const double share = (x - before->first) / (after->first - before->first);
  return before->second + share * (after->second - before->second);
}

}  // namespace

double InterquartileMean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(values.size() / 4);
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(std::ssize(values) - 2 * cut);
}

std::pair<double, double> BootstrapInterval(const std::vector<double>& values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> means;
  std::vector<double> drawn(values.size());
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (double& value : drawn) value = values[random() % values.size()];
    means.push_back(InterquartileMean(drawn));
  }
  std::sort(means.begin(), means.end());
  return {Percentile(means, 0.025), Percentile(means, 0.975)};
}

CurveBand BandOf(const std::vector<Curve>& curves, std::size_t places) {
  double first = -INFINITY;
  double last = -INFINITY;
  std::vector<const Curve*> drawn;
  for (const Curve& curve : curves) {
    if (curve.empty()) continue;
    drawn.push_back(&curve);
    first = std::max(first, curve.front().first);
    last = std::max(last, curve.back().first);
  }
  CurveBand band;
  if (drawn.empty()) return band;
  const std::size_t count = last > first ? std::max<std::size_t>(places, 2) : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double x = first + share * (last - first);
    std::vector<double> values;
    for (const Curve* curve : drawn) values.push_back(ValueAt(*curve, x));
    band.mean.emplace_back(x, InterquartileMean(values));
    band.interval.push_back(BootstrapInterval(values, i));
  }
  return band;
}

}  // namespace shoal::cli
