// SPDX-License-Identifier: Apache-2.0
// Priorities of prioritized replay, and the importance weights that undo them in a loss.
//
// The tables of replay turn priorities into probabilities themselves and report them with each
// sample; PriorityProbabilities states what they do, for the items of all shards together.
// No function here sees ends of episodes: errors come from targets, which do.
#pragma once

#include <span>
#include <vector>

namespace shoal::estimators {

// The least priority to give, so that what has no error is still seen again.
inline constexpr double kLeastPriority = 1e-6;

// Returns the priority of a single transition, |error| + epsilon (Schaul et al. 2016, section 3.3,
// the proportional variant). Epsilon keeps transitions without error from never being seen again.
double ProportionalPriority(double error, double epsilon = kLeastPriority);

// Returns the priority of a sequence, eta max |error| + (1 - eta) mean |error|, over the steps that
// were trained on (Kapturowski et al. 2019, "R2D2", section 2.3). A sequence without steps has
// priority 0.
double SequencePriority(std::span<const float> error, double eta = 0.9);

// Returns P(i) = p_i^alpha / sum_k p_k^alpha (Schaul et al. 2016, equation 1). With alpha 0 it is
// uniform; with a greater alpha, priority 0 has probability 0. If all priorities are 0, so are all
// probabilities. REQUIRES: priorities are finite and not negative; alpha is not negative.
std::vector<double> PriorityProbabilities(std::span<const double> priority, double alpha);

// Returns the importance weight (N P)^-beta of an item with probability P, divided by that of the
// item with the least probability (Schaul et al. 2016, section 3.4): (least / P)^beta, where the
// number N of items cancels. Weights are then at most 1, so that they only scale updates down. The
// paper takes the least probability of the whole table, which a sample carries
// (replay/client/sampler.h). Acme and SEED take the least of the batch, whose weights are greater
// and depend on what else was drawn. Where `least` exceeds the probability, which tables that
// change meanwhile can bring about, the weight is 1. REQUIRES: both are above 0, beta is not
// negative.
double ImportanceWeight(double probability, double least, double beta);

}  // namespace shoal::estimators
