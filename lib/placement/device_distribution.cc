// SPDX-License-Identifier: Apache-2.0
#include "placement/device_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::placement {

DeviceDistribution::DeviceDistribution(std::size_t groups, std::size_t devices)
    : devices_(devices),
      logits_(groups * devices),
      probabilities_(groups * devices, 1.0 / static_cast<double>(devices)) {}

Placement DeviceDistribution::Draw(runtime::Random& random) const {
  Placement placement(groups());
  for (std::size_t group = 0; group < placement.size(); ++group) {
    double left = random.Uniform();
    std::size_t device = 0;
    while (device + 1 < devices_ && left >= Probability(group, device)) {
      left -= Probability(group, device++);
    }
    placement[group] = device;
  }
  return placement;
}

double DeviceDistribution::LogProbability(const Placement& placement) const {
  double sum = 0;
  for (std::size_t group = 0; group < placement.size(); ++group) {
    sum += std::log(Probability(group, placement[group]));
  }
  return sum;
}

void DeviceDistribution::AddLogGradient(const Placement& placement, double weight,
                                        std::span<double> gradient) const {
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= weight * probabilities_[i];
  for (std::size_t group = 0; group < placement.size(); ++group) {
    gradient[group * devices_ + placement[group]] += weight;
  }
}

void DeviceDistribution::Move(std::span<const double> change) {
  constexpr double kMostBelow = 30;
  for (std::size_t first = 0; first < logits_.size(); first += devices_) {
    const std::span<double> logits(&logits_[first], devices_);
    for (std::size_t i = 0; i < devices_; ++i) logits[i] += change[first + i];
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (std::size_t i = 0; i < devices_; ++i) {
      logits[i] = std::max(logits[i] - largest, -kMostBelow);
      sum += probabilities_[first + i] = std::exp(logits[i]);
    }
    for (std::size_t i = 0; i < devices_; ++i) probabilities_[first + i] /= sum;
  }
}

void DeviceDistribution::SetProbabilities(std::vector<double> probabilities) {
  probabilities_ = std::move(probabilities);
  std::transform(probabilities_.begin(), probabilities_.end(), logits_.begin(),
                 [](double probability) { return std::log(probability); });
}

}  // namespace shoal::placement
