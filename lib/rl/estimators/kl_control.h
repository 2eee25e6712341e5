// SPDX-License-Identifier: Apache-2.0
// Controllers that hold the KL divergence between an update's two policies near a target. Each is a
// pure function from what was used in one update to what the next one uses.
//
// `kl` is the mean of the divergence over the rows that were trained on, in nats; what ends
// episodes plays no part.
#pragma once

namespace shoal::estimators {

// Returns the next coefficient of PPO's KL penalty (Schulman et al. 2017, section 4): half of it
// where `kl` was below target / 1.5, twice where it was above 1.5 target. The loss to be minimised
// is -E[r A] + coefficient KL. The result is within [1e-8, 1e8], from where it can return.
double AdaptiveKlCoefficient(double coefficient, double kl, double target);

// Returns the learning rate for the next update after one that moved the policy by `kl`: divided by
// 1.5 above twice the target, multiplied by 1.5 below half of it; always within [1e-6, 1e-2]. This
// is the schedule of rl_games and Sample Factory.
double KlAdaptiveRate(double rate, double kl, double target);

}  // namespace shoal::estimators
