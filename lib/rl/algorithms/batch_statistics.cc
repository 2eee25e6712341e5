// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/batch_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <tuple>

namespace shoal::algorithms {
namespace {

enum Sum : std::size_t {
  kWeight,
  kAdvantage,
  kAdvantageSquare,
  kTarget,
  kTargetSquare,
  kStaleness,
  kStalenessRows,
  kSums = kStalenessRows + std::tuple_size_v<decltype(UpdateReport::staleness_rows)>
};

std::size_t StalenessBucket(double staleness) {
  const auto* const bound =
      std::lower_bound(kStalenessBounds.begin(), kStalenessBounds.end(), staleness);
  return static_cast<std::size_t>(std::distance(kStalenessBounds.begin(), bound));
}

double Variance(double sum, double squares, double weight) {
  const double mean = sum / weight;
  return std::max(0.0, squares / weight - mean * mean);
}

}  // namespace

absl::Status ReduceStatistics(const UnrollBatch& batch, collectives::GradientReducer& reducer,
                              bool normalise, std::span<const float> weights, Targets& targets,
                              UpdateReport& report) {
  std::array<double, kSums> sums{};
  std::array<double, 2> maxima{};
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const double weight = weights[row];
    if (weight == 0) continue;
    const double advantage = targets.advantage[row];
    const double target = targets.value[row];
    const double staleness =
        batch.staleness.empty() ? 0 : static_cast<double>(batch.staleness[row]);
    sums[kWeight] += weight;
    sums[kAdvantage] += weight * advantage;
    sums[kAdvantageSquare] += weight * advantage * advantage;
    sums[kTarget] += weight * target;
    sums[kTargetSquare] += weight * target * target;
    sums[kStaleness] += weight * staleness;
    sums[kStalenessRows + StalenessBucket(staleness)] += weight;
    maxima[0] = std::max(maxima[0], std::abs(static_cast<double>(batch.value[row])));
    maxima[1] = std::max(maxima[1], staleness);
  }
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sums)));
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceMax(std::span<double>(maxima)));
  report.rows = sums[kWeight];
  report.max_absolute_value = maxima[0];
  report.max_staleness = maxima[1];
  std::copy(sums.begin() + kStalenessRows, sums.end(), report.staleness_rows.begin());
  if (sums[kWeight] <= 0) return absl::OkStatus();
  const double weight = sums[kWeight];
  const double advantage_variance = Variance(sums[kAdvantage], sums[kAdvantageSquare], weight);
  const double target_variance = Variance(sums[kTarget], sums[kTargetSquare], weight);
  report.mean_advantage = sums[kAdvantage] / weight;
  report.mean_return = sums[kTarget] / weight;
  report.mean_staleness = sums[kStaleness] / weight;
  // The advantage is the part of the return that the value left unexplained.
  report.explained_variance = target_variance > 0 ? 1 - advantage_variance / target_variance : 0;
  if (!normalise) return absl::OkStatus();
  const auto mean = static_cast<float>(report.mean_advantage);
  // The floor keeps advantages that are all equal close to zero.
  const auto factor = static_cast<float>(1 / std::max(std::sqrt(advantage_variance), 1e-6));
  for (float& advantage : targets.advantage) advantage = (advantage - mean) * factor;
  return absl::OkStatus();
}

}  // namespace shoal::algorithms
