// SPDX-License-Identifier: Apache-2.0
// An algorithm as a strategy: what it asks of a batch, what a row is worth, and what a row costs.
//
// The trainer owns everything that algorithms share: forward and backward passes, minibatches,
// reduction over ranks, the optimiser, checkpoints. An algorithm is a set of pure functions over
// tensors; it keeps no state between calls, so one object serves a whole run. Immutable, safe for
// any number of threads. Shows torch; methods throw what torch throws.
//
// docs/new-algorithm.md walks through adding one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/targets.h"
#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// What an algorithm needs before it can compute a loss.
struct Requirements {
  // Epochs over a batch in one update, and the gradient steps (minibatches) of each.
  std::int64_t update_epochs = 1;
  std::int64_t minibatches = 1;
  // Targets depend on the current policy: before every epoch it is evaluated on all rows of the
  // batch, the bootstrap rows among them. Otherwise targets are estimated once an update, from what
  // the behaviour policy recorded.
  bool current_policy = false;
  // How many updates may train on one unroll. Tables of replay give an unroll out so often.
  std::int64_t max_times_sampled = 1;
};

// R rows of a minibatch under the current policy. All tensors are [R], double, on one device.
struct PolicyRows {
  at::Tensor log_probability;            // of the row's action
  at::Tensor entropy;                    // of the row's distribution, in nats
  at::Tensor behaviour_log_probability;  // of the row's action
  at::Tensor advantage;
  at::Tensor greedy;  // 1 where the row's action is the most probable one, else 0
};

// The policy's loss of each row, to be minimised, with its derivatives. All tensors are [R].
struct PolicyTerms {
  at::Tensor loss;
  at::Tensor by_log_probability;
  at::Tensor by_entropy;
  // One tensor for each of metric_names(); the trainer reports their weighted means.
  std::vector<at::Tensor> metrics;
};

// R rows of a minibatch as the critic sees them. All tensors are [R], double, on one device.
struct ValueRows {
  at::Tensor value;
  at::Tensor behaviour_value;
  at::Tensor target;
};

struct ValueTerms {
  at::Tensor loss;
  at::Tensor by_value;
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  virtual Requirements requirements() const = 0;

  // What each row was worth. `view`: log-probabilities and values of the current policy where
  // requirements().current_policy, of the behaviour policy otherwise.
  virtual Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const = 0;

  virtual PolicyTerms PolicyLoss(const PolicyRows& rows) const = 0;
  virtual ValueTerms ValueLoss(const ValueRows& rows) const = 0;

  // What PolicyTerms::metrics holds, in snake_case. At most kMaximumMetrics.
  virtual std::vector<std::string> metric_names() const { return {}; }
  static constexpr std::size_t kMaximumMetrics = 8;
};

}  // namespace shoal::algorithms
