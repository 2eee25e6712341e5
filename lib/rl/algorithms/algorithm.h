// SPDX-License-Identifier: Apache-2.0
// The interface of a training algorithm: what it requires of a batch, its estimate of what each row
// was worth, and the loss of each row.
//
// The trainer owns everything that algorithms share: forward and backward passes, minibatches,
// reduction over ranks, the optimiser, checkpoints. An algorithm is a set of pure functions over
// tensors. It keeps no state between calls, so one object serves a whole run. It is immutable and
// safe for any number of threads. This header shows torch; methods throw what torch throws.
//
// docs/new-algorithm.md walks through adding an algorithm.
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
  // Epochs over a batch in one update, and gradient steps (minibatches) in each epoch.
  std::int64_t update_epochs = 1;
  std::int64_t minibatches = 1;
  // Whether targets depend on the current policy. If so, the policy is evaluated before every epoch
  // on all rows of the batch, bootstrap rows included. Otherwise targets are estimated once for
  // each update from what the behaviour policy recorded.
  bool current_policy = false;
  // How many updates may train on one unroll. Replay tables return each unroll at most this often.
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

// The policy loss of each row, to be minimised, with its derivatives. All tensors are [R].
struct PolicyTerms {
  at::Tensor loss;
  at::Tensor by_log_probability;
  at::Tensor by_entropy;
  // One tensor for each of metric_names(); the trainer reports their weighted means.
  std::vector<at::Tensor> metrics;
};

// R rows of a minibatch, as input for the critic's loss. All tensors are [R], double, on one
// device.
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

  // Returns the targets of each row. `view` holds the log-probabilities and values of the current
  // policy if requirements().current_policy, otherwise those of the behaviour policy.
  virtual Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const = 0;

  virtual PolicyTerms PolicyLoss(const PolicyRows& rows) const = 0;
  virtual ValueTerms ValueLoss(const ValueRows& rows) const = 0;

  // The names of PolicyTerms::metrics, in snake_case; at most kMaximumMetrics.
  virtual std::vector<std::string> metric_names() const { return {}; }
  static constexpr std::size_t kMaximumMetrics = 8;
};

}  // namespace shoal::algorithms
