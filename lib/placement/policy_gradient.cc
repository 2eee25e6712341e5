// SPDX-License-Identifier: Apache-2.0
#include "placement/policy_gradient.h"

#include <algorithm>
#include <cmath>

namespace shoal::placement {
namespace {

double MeanReward(std::span<const Sample> samples) {
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.reward;
  return sum / static_cast<double>(samples.size());
}

// The rewards with mean 0 and variance 1; all 0 where they are all equal.
std::vector<double> NormalisedRewards(std::span<const Sample> samples) {
  constexpr double kLeastDeviation = 1e-12;
  const double mean = MeanReward(samples);
  std::vector<double> advantages;
  double squares = 0;
  for (const Sample& sample : samples) {
    advantages.push_back(sample.reward - mean);
    squares += advantages.back() * advantages.back();
  }
  const double deviation = std::sqrt(squares / static_cast<double>(samples.size()));
  for (double& advantage : advantages) {
    advantage = deviation > kLeastDeviation ? advantage / deviation : 0;
  }
  return advantages;
}

}  // namespace

void Reinforce::Learn(std::span<const Sample> samples, ChoiceDistribution& distribution) {
  constexpr double kBaselineShare = 0.1;
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  constexpr double kSmall = 1e-8;
  const double mean = MeanReward(samples);
  baseline_ = batches_ == 0 ? mean : baseline_;
  std::vector<double> change(distribution.probabilities().size());
  for (const Sample& sample : samples) {
    distribution.AddLogGradient(
        sample.choices, (sample.reward - baseline_) / static_cast<double>(samples.size()), change);
  }
  baseline_ += kBaselineShare * (mean - baseline_);
  ++batches_;
  first_moment_.resize(change.size());
  second_moment_.resize(change.size());
  const double first_share = 1 - std::pow(kFirst, batches_);
  const double second_share = 1 - std::pow(kSecond, batches_);
  for (std::size_t i = 0; i < change.size(); ++i) {
    first_moment_[i] += (1 - kFirst) * (change[i] - first_moment_[i]);
    second_moment_[i] += (1 - kSecond) * (change[i] * change[i] - second_moment_[i]);
    change[i] = learning_rate_ * (first_moment_[i] / first_share) /
                (std::sqrt(second_moment_[i] / second_share) + kSmall);
  }
  distribution.Move(change);
}

void Proximal::Learn(std::span<const Sample> samples, ChoiceDistribution& distribution) const {
  constexpr double kLeastDivisor = 1e-4;
  const std::size_t choices = distribution.choices();
  const std::vector<double> drawn_from(distribution.probabilities().begin(),
                                       distribution.probabilities().end());
  const std::vector<double> advantages = NormalisedRewards(samples);
  // A sample enters a group's objective through its choice alone.
  std::vector<double> worth(drawn_from.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t group = 0; group < samples[i].choices.size(); ++group) {
      const std::size_t at = group * choices + samples[i].choices[group];
      worth[at] += advantages[i] /
                   (static_cast<double>(samples.size()) * std::max(drawn_from[at], kLeastDivisor));
    }
  }
  std::vector<double> change(drawn_from.size());
  for (int step = 0; step < steps; ++step) {
    const std::span<const double> now = distribution.probabilities();
    for (std::size_t first = 0; first < change.size(); first += choices) {
      double mean = 0;
      for (std::size_t i = first; i < first + choices; ++i) mean += now[i] * worth[i];
      for (std::size_t i = first; i < first + choices; ++i) {
        change[i] =
            learning_rate * (now[i] * (worth[i] - mean) - penalty * (now[i] - drawn_from[i]));
      }
    }
    distribution.Move(change);
  }
}

}  // namespace shoal::placement
