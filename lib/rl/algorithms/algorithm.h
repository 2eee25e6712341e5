// SPDX-License-Identifier: Apache-2.0
// The interfaces of training algorithms: what one requires of a batch, its estimate of what each
// row was worth, and the loss of each row.
//
// There are three families. A PolicyAlgorithm improves a distribution over actions and a critic; an
// ActionValueAlgorithm improves the values Q(s, a), on which acting is epsilon-greedy
// (model::PolicySpec::action_values); a SoftAlgorithm improves a distribution with two critics of
// Q(s, a) and a temperature (model::PolicySpec::twin_critics).
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

#include "rl/algorithms/requirements.h"
#include "rl/algorithms/targets.h"
#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// What the terms of a policy's loss weigh in an update, where that changes from update to update.
struct LossWeights {
  double entropy = 0;
  // Of the penalty on the KL of behaviour policy and current policy; only PPO has one.
  double kl = 0;
};

// R rows of a minibatch under the current policy. All tensors are [R], double, on one device.
struct PolicyRows {
  at::Tensor log_probability;            // of the row's action
  at::Tensor entropy;                    // of the row's distribution, in nats
  at::Tensor behaviour_log_probability;  // of the row's action
  at::Tensor advantage;
  at::Tensor greedy;  // 1 where the row's action is the most probable one, else 0
  LossWeights weights = {};
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

// How many quantiles of the return of a row's action are trained, and how many make its target.
struct QuantileCounts {
  std::int64_t trained = 0;
  std::int64_t target = 0;
};

// R rows of a minibatch with action values. Tensors are [R] unless said otherwise, double, on one
// device. With quantiles, each of a row's trained ones is a row of its own here.
struct ActionValueRows {
  at::Tensor action_value;   // Q(s, a) or a quantile of the row's action, by the trained network
  at::Tensor target;         // with quantiles [R, M]: M quantiles of the target
  at::Tensor fraction = {};  // in [0, 1), of the quantile; undefined without quantiles
};

// The loss of each row, to be minimised, with its derivative. All tensors are [R].
struct ActionValueTerms {
  at::Tensor loss;
  at::Tensor by_action_value;
  // Q(s, a) - target, or with quantiles the quantile less the mean of its targets. Priorities in
  // replay are made of the absolute value of its mean over the row's quantiles.
  at::Tensor error;
  // As in PolicyTerms.
  std::vector<at::Tensor> metrics;
};

// What two networks say of a batch with action values.
struct ActionValueView {
  // Q of the target network for an action of each row, [T+1, B]: with double_q for the action that
  // the trained network prefers there, otherwise for the one that the target network prefers. With
  // quantiles it is one quantile of the return of this action in each row.
  std::span<const float> value;
  // With retrace(), that action, [T+1, B], and Q of the target network for the recorded action of
  // each row, [T+1, B], which has no meaning where there is none; otherwise empty.
  std::span<const std::int64_t> preferred_action = {};
  std::span<const float> recorded_value = {};
};

// What the policy and the target critics say of a batch, [T+1, B] each.
struct SoftView {
  // The expectation under the current policy of the lesser of the target critics: of one sampled
  // action with a box, exact otherwise.
  std::span<const float> value;
  // The temperature times the entropy of the policy, from the same sample or exact.
  std::span<const float> entropy_bonus;
};

class PolicyAlgorithm;
class ActionValueAlgorithm;
class SoftAlgorithm;

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  virtual Requirements requirements() const = 0;

  // The names of the metrics of a row's terms, in snake_case; at most kMaximumMetrics.
  virtual std::vector<std::string> metric_names() const { return {}; }
  static constexpr std::size_t kMaximumMetrics = 8;

  // Exactly one of them is not null.
  virtual const PolicyAlgorithm* policy() const { return nullptr; }
  virtual const ActionValueAlgorithm* action_values() const { return nullptr; }
  virtual const SoftAlgorithm* soft() const { return nullptr; }
};

class PolicyAlgorithm : public Algorithm {
 public:
  const PolicyAlgorithm* policy() const final { return this; }

  // Returns the targets of each row. `view` holds the log-probabilities and values of the current
  // policy if requirements().current_policy, otherwise those of the behaviour policy.
  virtual Targets Estimate(const UnrollBatch& batch, const PolicyView& view) const = 0;

  virtual PolicyTerms PolicyLoss(const PolicyRows& rows) const = 0;
  virtual ValueTerms ValueLoss(const ValueRows& rows) const = 0;
};

class ActionValueAlgorithm : public Algorithm {
 public:
  const ActionValueAlgorithm* action_values() const final { return this; }

  // Whether the trained network chooses the action whose value the target network states
  // (van Hasselt et al. 2016).
  virtual bool double_q() const = 0;
  // Whether targets need to know which recorded actions are preferred, and what they are worth.
  virtual bool retrace() const { return false; }
  // None of both where the algorithm learns Q(s, a) alone; both are above 0 where it learns the
  // distribution of returns, with policy.quantile_cosines.
  virtual QuantileCounts quantiles() const { return {}; }
  // Returns the target of Q(s, a) of each row, [T, B]. With quantiles the trainer calls it for each
  // of the M quantiles of a target.
  virtual std::vector<float> Estimate(const UnrollBatch& batch,
                                      const ActionValueView& view) const = 0;
  virtual ActionValueTerms Loss(const ActionValueRows& rows) const = 0;
};

class SoftAlgorithm : public Algorithm {
 public:
  const SoftAlgorithm* soft() const final { return this; }

  // Returns the target of Q(s, a) of each row, [T, B].
  virtual std::vector<float> Estimate(const UnrollBatch& batch, const SoftView& view) const = 0;
  // Returns the entropy in nats that the temperature holds, for a policy of `spec`.
  virtual double TargetEntropy(const model::PolicySpec& spec) const = 0;
};

}  // namespace shoal::algorithms
