// SPDX-License-Identifier: Apache-2.0
// The distribution of one dimension of a continuous action under the head "gaussian": a normal
// distribution over the box's own scale, from -1 at its low to 1 at its high, that does not end
// there.
//
// The head gives the mean. The logarithm of the deviation is a parameter of its own that no
// observation changes; it counts as within [kLeastLogDeviation, kGreatestLogDeviation]
// (squashed_gaussian.h). Pure; a Gaussian is a value.
#pragma once

namespace shoal::model {

class Gaussian {
 public:
  Gaussian(double mean, double log_deviation);

  // Returns mean + deviation * noise, rounded as it is recorded.
  float Action(double noise) const;
  // Returns the logarithm of the density at an action, in nats.
  double LogDensity(double action) const;
  // Returns -E[log density] = log deviation + log(2 pi e) / 2, in nats.
  double Entropy() const;

 private:
  double mean_ = 0;
  double log_deviation_ = 0;
};

}  // namespace shoal::model
