// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/running_moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::estimators {
namespace {

constexpr double kLeastVariance = 1e-8;

template <typename Number>
bool AreFinite(std::span<const Number> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](Number number) { return std::isfinite(number); });
}

}  // namespace

RunningMoments::RunningMoments(std::size_t features)
    : sums_{.count = 0,
            .mean = std::vector<double>(features),
            .squares = std::vector<double>(features)} {}

absl::StatusOr<RunningMoments> RunningMoments::Create(MomentSums sums) {
  if (sums.mean.size() != sums.squares.size()) {
    return runtime::InvalidArgument("moments have as many means as sums of squares");
  }
  const bool finite =
      std::isfinite(sums.count) && AreFinite<double>(sums.mean) && AreFinite<double>(sums.squares);
  const bool positive = sums.count >= 0 && std::all_of(sums.squares.begin(), sums.squares.end(),
                                                       [](double sum) { return sum >= 0; });
  if (!finite || !positive) {
    return runtime::InvalidArgument("moments are finite; counts and squares are not negative");
  }
  RunningMoments moments(0);
  moments.sums_ = std::move(sums);
  return moments;
}

bool RunningMoments::Add(std::span<const float> row) {
  SHOAL_CHECK(row.size() == sums_.mean.size());
  if (!AreFinite(row)) return false;
  sums_.count += 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double before = row[i] - sums_.mean[i];
    sums_.mean[i] += before / sums_.count;
    sums_.squares[i] += before * (row[i] - sums_.mean[i]);
  }
  return true;
}

void RunningMoments::Merge(const RunningMoments& other) {
  SHOAL_CHECK(other.sums_.mean.size() == sums_.mean.size());
  const double count = sums_.count + other.sums_.count;
  if (count == 0) return;
  const double part = other.sums_.count / count;
  for (std::size_t i = 0; i < sums_.mean.size(); ++i) {
    const double apart = other.sums_.mean[i] - sums_.mean[i];
    sums_.mean[i] += apart * part;
    sums_.squares[i] += other.sums_.squares[i] + apart * apart * sums_.count * part;
  }
  sums_.count = count;
}

void RunningMoments::Normalise(std::span<float> row, double limit) const {
  SHOAL_CHECK(row.size() == sums_.mean.size() && limit > 0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    double value = row[i];
    if (sums_.count >= 2) value = (value - mean(i)) / std::sqrt(variance(i) + kLeastVariance);
    row[i] = static_cast<float>(std::clamp(value, -limit, limit));
  }
}

double RunningMoments::variance(std::size_t feature) const {
  return sums_.count > 0 ? sums_.squares[feature] / sums_.count : 0;
}

}  // namespace shoal::estimators
