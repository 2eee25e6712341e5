// SPDX-License-Identifier: Apache-2.0
// Sums up the scores of several seeds as Agarwal et al. 2021 ("Deep Reinforcement Learning at the
// Edge of the Statistical Precipice", rliable) advise: by the interquartile mean, with bootstrap
// intervals.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace shoal::cli {

// The mean of what is left of the values when a quarter, rounded down, is cut off at either end.
// There must be at least one value.
double InterquartileMean(std::vector<double> values);

// The 95 % interval of the interquartile mean: the 2.5th and the 97.5th percentile over 2,000
// samples with replacement. The same values and seed give the same interval. There must be at least
// one value.
std::pair<double, double> BootstrapInterval(const std::vector<double>& values, std::uint64_t seed);

// A score over environment steps or seconds: points (x, y) with x ascending.
using Curve = std::vector<std::pair<double, double>>;

// The curves of several seeds at common places.
struct CurveBand {
  Curve mean = {};
  // The low and the high end of the 95 % interval at each place.
  std::vector<std::pair<double, double>> interval = {};
};

// Returns the interquartile mean at `places` places, from the last first point of the curves to the
// last point of all. Between its points a curve is linear, and behind its last point it keeps that
// value: a run that ended since it was good enough counts as it ended. Curves without points are
// left out; without any the band is empty.
CurveBand BandOf(const std::vector<Curve>& curves, std::size_t places);

}  // namespace shoal::cli
