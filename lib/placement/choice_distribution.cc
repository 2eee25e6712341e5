// SPDX-License-Identifier: Apache-2.0
#include "placement/choice_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::placement {

ChoiceDistribution::ChoiceDistribution(std::size_t groups, std::size_t choices)
    : choices_(choices),
      logits_(groups * choices),
      probabilities_(groups * choices, 1.0 / static_cast<double>(choices)) {}

Choices ChoiceDistribution::Draw(runtime::Random& random) const {
  Choices drawn(groups());
  for (std::size_t group = 0; group < drawn.size(); ++group) {
    double left = random.Uniform();
    std::size_t choice = 0;
    while (choice + 1 < choices_ && left >= Probability(group, choice)) {
      left -= Probability(group, choice++);
    }
    drawn[group] = static_cast<std::uint8_t>(choice);
  }
  return drawn;
}

double ChoiceDistribution::LogProbability(const Choices& drawn) const {
  double sum = 0;
  for (std::size_t group = 0; group < drawn.size(); ++group) {
    sum += std::log(Probability(group, drawn[group]));
  }
  return sum;
}

void ChoiceDistribution::AddLogGradient(const Choices& drawn, double weight,
                                        std::span<double> gradient) const {
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= weight * probabilities_[i];
  for (std::size_t group = 0; group < drawn.size(); ++group) {
    gradient[group * choices_ + drawn[group]] += weight;
  }
}

void ChoiceDistribution::Move(std::span<const double> change) {
  constexpr double kMostBelow = 30;
  for (std::size_t first = 0; first < logits_.size(); first += choices_) {
    const std::span<double> logits(&logits_[first], choices_);
    for (std::size_t i = 0; i < choices_; ++i) logits[i] += change[first + i];
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (std::size_t i = 0; i < choices_; ++i) {
      logits[i] = std::max(logits[i] - largest, -kMostBelow);
      sum += probabilities_[first + i] = std::exp(logits[i]);
    }
    for (std::size_t i = 0; i < choices_; ++i) probabilities_[first + i] /= sum;
  }
}

void ChoiceDistribution::SetProbabilities(std::vector<double> probabilities) {
  probabilities_ = std::move(probabilities);
  std::transform(probabilities_.begin(), probabilities_.end(), logits_.begin(),
                 [](double probability) { return std::log(probability); });
}

}  // namespace shoal::placement
