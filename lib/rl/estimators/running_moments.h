// SPDX-License-Identifier: Apache-2.0
// Running moments: the mean and variance of each feature over all rows seen so far, for
// normalising observations or returns.
//
// Rows enter one at a time (Welford 1962), and the moments of two sets of rows merge into those of
// their union (Chan, Golub and LeVeque 1983), so ranks can count their own rows and merge. The
// order of merging changes only rounding; ranks that must agree bit by bit merge in the same order.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::estimators {

// What to store, and what to send to another rank.
struct MomentSums {
  double count = 0;
  std::vector<double> mean;     // [D]
  std::vector<double> squares;  // [D], the sum of (x - mean)^2
};

class RunningMoments {
 public:
  // Moments of no rows, each of `features` numbers.
  explicit RunningMoments(std::size_t features);
  // Moments that were stored or sent. INVALID_ARGUMENT if vectors differ in size, or if a number is
  // not finite or a count or sum of squares negative.
  static absl::StatusOr<RunningMoments> Create(MomentSums sums);

  // Adds a row, [D]. Returns false and changes nothing if a number in it is not finite, because one
  // such number would stay in the mean for ever. REQUIRES: its size is `features`.
  bool Add(std::span<const float> row);
  // Adds all rows of another one. REQUIRES: it has as many features.
  void Merge(const RunningMoments& other);

  // Makes the row (x - mean) / sqrt(variance + 1e-8), clamped to [-limit, limit]. With fewer than
  // two rows seen, it only clamps. REQUIRES: its size is `features`; limit > 0.
  void Normalise(std::span<float> row, double limit = 10) const;

  const MomentSums& sums() const { return sums_; }
  double count() const { return sums_.count; }
  double mean(std::size_t feature) const { return sums_.mean[feature]; }
  // The variance of the population: the mean of (x - mean)^2; 0 for no rows.
  double variance(std::size_t feature) const;

 private:
  MomentSums sums_;
};

}  // namespace shoal::estimators
