// SPDX-License-Identifier: Apache-2.0
// A distribution over choices: an independent one for each group, a softmax of one logit for each
// choice (Gao, Chen and Li, "Post: device placement with cross-entropy minimization and proximal
// policy optimization", NeurIPS 2018, whose choices are devices).
//
// Gradients are with respect to the logits, which are [group, choice] in one row. Not thread-safe.
// REQUIRES of all: Choices have one existing choice for each group, and spans one number for each
// logit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "placement/choices.h"
#include "platform/runtime/random.h"

namespace shoal::placement {

class ChoiceDistribution {
 public:
  // Every choice is equally likely; all logits are 0. REQUIRES: choices >= 1.
  ChoiceDistribution(std::size_t groups, std::size_t choices);

  // Draws one uniform number for each group, in the order of groups.
  Choices Draw(runtime::Random& random) const;

  double LogProbability(const Choices& drawn) const;
  double Probability(std::size_t group, std::size_t choice) const {
    return probabilities_[group * choices_ + choice];
  }
  std::span<const double> probabilities() const { return probabilities_; }

  // Adds `weight` times the gradient of LogProbability(drawn).
  void AddLogGradient(const Choices& drawn, double weight, std::span<double> gradient) const;

  // Adds `change` to the logits. No logit then is more than 30 below the largest of its group, so
  // that no probability becomes 0.
  void Move(std::span<const double> change);

  // Makes these the probabilities. REQUIRES: all are > 0, and those of a group sum up to 1.
  void SetProbabilities(std::vector<double> probabilities);

  std::size_t groups() const { return probabilities_.size() / choices_; }
  std::size_t choices() const { return choices_; }

 private:
  std::size_t choices_;
  std::vector<double> logits_;
  std::vector<double> probabilities_;
};

}  // namespace shoal::placement
