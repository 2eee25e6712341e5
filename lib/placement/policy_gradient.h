// SPDX-License-Identifier: Apache-2.0
// Policy gradients of a ChoiceDistribution, by hand, from choices that were drawn from it.
//
// The reward of a placement is -sqrt(its cost), as in Mirhoseini et al., "Device placement
// optimization with reinforcement learning", ICML 2017; a failed placement's cost is in
// simulator.h. Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "placement/choice_distribution.h"

namespace shoal::placement {

struct Sample {
  Choices choices;
  double reward = 0;
};

// REINFORCE (Williams 1992) as Mirhoseini et al. use it: one step of Adam (Kingma and Ba, ICLR
// 2015) for each batch, on the mean of (reward - baseline) times the gradient of the
// log-probability. The baseline is a moving average of the batches' mean rewards; the first batch
// is its own.
class Reinforce {
 public:
  explicit Reinforce(double learning_rate) : learning_rate_(learning_rate) {}

  // REQUIRES: there is a sample, all were drawn from `distribution` as it is, and it is always the
  // same one.
  void Learn(std::span<const Sample> samples, ChoiceDistribution& distribution);

 private:
  const double learning_rate_;
  double baseline_ = 0;
  int batches_ = 0;
  std::vector<double> first_moment_;
  std::vector<double> second_moment_;
};

// Proximal policy optimisation with a penalty (Schulman et al., "Proximal policy optimization
// algorithms", 2017, section 4), as Post uses it: `steps` of plain gradient ascent on
//
//   sum over groups m of  mean over samples of  A p(c_m) / q(c_m)  -  penalty KL(q_m || p_m)
//
// where c_m is a sample's choice for group m, q the distribution that the samples were drawn from,
// p the one that moves, and A the
// reward minus the samples' mean, over their standard deviation. Groups are independent, so each
// has a ratio of its own: the gradient at p = q is the same as with the ratio of whole placements,
// whose spread grows with the number of groups. A q below 1e-4 counts as 1e-4, so that one draw of
// what is next to impossible does not decide a group. Samples that are all equal teach nothing.
// REQUIRES: there is a sample, and all were drawn from `distribution` as it is.
struct Proximal {
  int steps = 10;
  double learning_rate = 1;
  double penalty = 1;

  void Learn(std::span<const Sample> samples, ChoiceDistribution& distribution) const;
};

}  // namespace shoal::placement
