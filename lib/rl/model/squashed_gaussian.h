// SPDX-License-Identifier: Apache-2.0
// The distribution of one dimension of a continuous action: a = tanh(u) with u normal (Haarnoja et
// al. 2018, "Soft Actor-Critic Algorithms and Applications", appendix C).
//
// The policy's head gives the mean and the logarithm of the deviation of u. The logarithm is
// clipped to [kLeastLogDeviation, kGreatestLogDeviation]. Pure; a SquashedGaussian is a value.
#pragma once

namespace shoal::model {

inline constexpr double kLeastLogDeviation = -5;
inline constexpr double kGreatestLogDeviation = 2;

class SquashedGaussian {
 public:
  SquashedGaussian(double mean, double log_deviation);

  // Returns the action, in [-1, 1], at u = mean + deviation * noise.
  double Action(double noise) const;
  // Returns the logarithm of the density over actions at the same place, in nats. It is
  // log N(u) - log(1 - tanh(u)^2), and the latter is computed as 2 (log 2 - u - softplus(-2 u)),
  // which is exact also where tanh(u) rounds to 1.
  double LogDensity(double noise) const;

 private:
  double mean_ = 0;
  double log_deviation_ = 0;
};

// Returns a standard normal number of two uniform ones in [0, 1) (Box and Muller 1958).
double NormalOf(double first, double second);

}  // namespace shoal::model
