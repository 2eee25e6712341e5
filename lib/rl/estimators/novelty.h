// SPDX-License-Identifier: Apache-2.0
// Novelty: rewards for observations that are new in the episode and in the life of the agent
// (Badia et al. 2020, "Never Give Up" (NGU), section 2 and algorithm 1).
//
// The episodic part compares the embedding of an observation with those of its episode. A caller
// forgets them when the episode ends, whether it terminated or was truncated. Intrinsic returns
// then bootstrap like all others: by discount and trace of returns.h and retrace.h.
#pragma once

#include <span>

namespace shoal::estimators {

struct EpisodicNoveltyOptions {
  // The kernel is epsilon / (d^2 / mean + epsilon).
  double kernel_epsilon = 1e-4;
  // Embeddings nearer than this, relative to the mean, count as the same.
  double cluster_distance = 8e-3;
  // Added to the similarity, so that the reward is at most 1 / constant.
  double constant = 1e-3;
  // An observation more similar than this has novelty 0.
  double maximum_similarity = 8;
};

// Returns the episodic reward 1 / (sqrt(sum_k K(x, x_k)) + constant) of an observation, from the
// squared distances to its nearest neighbours among the embeddings of its episode (the paper takes
// 10, and the last 30,000 embeddings), in any order. `mean` is the running mean, over everything
// seen, of squared distances to neighbours; where it is 0, all neighbours count as the same. The
// first observation of an episode has no neighbours and reward 0: being the first is nothing that
// a policy could learn from.
double EpisodicNovelty(std::span<const float> squared_distance, double mean,
                       const EpisodicNoveltyOptions& options = {});

// Returns the intrinsic reward r_episodic min(max(alpha, 1), limit) with
// alpha = 1 + (error - mean) / deviation, where `error` is how badly the predictor of random
// network distillation (Burda et al. 2019) predicts the observation, and mean and deviation are
// those of all its errors (running_moments.h). Where the deviation is 0, alpha is 1. REQUIRES:
// limit >= 1.
double IntrinsicReward(double episodic, double error, double mean, double deviation,
                       double limit = 5);

}  // namespace shoal::estimators
