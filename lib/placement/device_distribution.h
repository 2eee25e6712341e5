// SPDX-License-Identifier: Apache-2.0
// A distribution over placements: an independent one over devices for each group, a softmax of one
// logit for each device (Gao, Chen and Li, "Post: device placement with cross-entropy minimization
// and proximal policy optimization", NeurIPS 2018).
//
// Gradients are with respect to the logits, which are [group, device] in one row. Not thread-safe.
// REQUIRES of all: placements have one existing device for each group, and spans one number for
// each logit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "placement/graph.h"
#include "platform/runtime/random.h"

namespace shoal::placement {

class DeviceDistribution {
 public:
  // Every device is equally likely; all logits are 0. REQUIRES: devices >= 1.
  DeviceDistribution(std::size_t groups, std::size_t devices);

  // Draws one uniform number for each group, in the order of groups.
  Placement Draw(runtime::Random& random) const;

  double LogProbability(const Placement& placement) const;
  double Probability(std::size_t group, std::size_t device) const {
    return probabilities_[group * devices_ + device];
  }
  std::span<const double> probabilities() const { return probabilities_; }

  // Adds `weight` times the gradient of LogProbability(placement).
  void AddLogGradient(const Placement& placement, double weight, std::span<double> gradient) const;

  // Adds `change` to the logits. No logit then is more than 30 below the largest of its group, so
  // that no probability becomes 0.
  void Move(std::span<const double> change);

  // Makes these the probabilities. REQUIRES: all are > 0, and those of a group sum up to 1.
  void SetProbabilities(std::vector<double> probabilities);

  std::size_t groups() const { return probabilities_.size() / devices_; }
  std::size_t devices() const { return devices_; }

 private:
  std::size_t devices_;
  std::vector<double> logits_;
  std::vector<double> probabilities_;
};

}  // namespace shoal::placement
