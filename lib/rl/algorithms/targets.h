// SPDX-License-Identifier: Apache-2.0
// Estimates of what the rows of a batch were worth: advantages for the policy and targets for the
// value. The estimators themselves are those of lib/rl/estimators, column by column.
//
// The functions are pure, over [T, B] arrays. For batches this file implements the rules of
// proto/unroll.proto for ends of episodes, as discounts and traces; inference has them for the
// priority of a single unroll (inference/core/unroll_priority.h). A TERMINATED row ignores
// everything after it. A TRUNCATED row before a FINAL row bootstraps from V(final) and looks no
// further. A TRUNCATED row whose final observation was lost has advantage 0 and no weight. Every
// other row at the end of its column bootstraps from the bootstrap row.
#pragma once

#include <span>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/estimators/vtrace.h"

namespace shoal::algorithms {

// A policy's view of a batch.
struct PolicyView {
  std::span<const float> log_probability;  // [T, B], of the rows' actions
  std::span<const float> value;            // [T+1, B]
};

// Returns the recorded view of the behaviour policy. It borrows the batch.
PolicyView BehaviourView(const UnrollBatch& batch);

struct Targets {
  std::vector<float> advantage;  // [T, B]
  std::vector<float> value;      // [T, B]; with quantiles the mean of those of the target
  // With split values, otherwise empty: the target of the intrinsic value. `value` is then that of
  // the extrinsic one.
  std::vector<float> intrinsic = {};  // [T, B]
  // With quantiles of returns, otherwise empty: M quantiles of each row's target, and the fractions
  // at which its own N are trained.
  std::vector<float> quantile = {};  // [T, B, M]
  std::vector<float> fraction = {};  // [T, B, N]
};

struct TargetOptions {
  double gamma = 0.99;
  // The factor on the trace within an episode: lambda of GAE and V-trace.
  double lambda = 0.95;
  double reward_scale = 1.0;
};

// Returns the weight of each row, [T, B]: the batch's weight, but 0 for FINAL rows, for rows beyond
// a column's length, and for TRUNCATED rows whose final observation was lost.
std::vector<float> RowWeights(const UnrollBatch& batch);

// Returns the sum of the rewards of each column's rows with weight, [B]. Where unrolls are cut by
// episode, it is the episode's return.
std::vector<float> ColumnReturns(const UnrollBatch& batch, double reward_scale);

// Returns the targets of rows that share one advantage with their column, given as [B]. Targets of
// the value are 0, for algorithms without a critic.
Targets ColumnTargets(const UnrollBatch& batch, std::span<const float> advantage);

// Returns generalised advantages (Schulman et al. 2016); the target of a value is advantage plus
// value. With lambda 1 the targets are discounted returns. REQUIRES: batch.Validate accepted the
// batch.
Targets GeneralisedTargets(const UnrollBatch& batch, const PolicyView& view,
                           const TargetOptions& options);

// Returns V-trace targets (Espeholt et al. 2018, equation 1) with the importance weights of `view`
// against the behaviour policy. The trace is cut where an episode ends. REQUIRES: batch.Validate
// accepted the batch.
Targets VtraceTargets(const UnrollBatch& batch, const PolicyView& view,
                      const TargetOptions& options, const estimators::VtraceOptions& clips);

// How targets of action values are made of rewards and later values.
struct ActionValueTargetOptions {
  double gamma = 0.99;
  // The discounts of a family of N policies, of which rows tell by the last N numbers of their
  // observation which one acted: the place of the greatest. Empty: gamma for all rows.
  std::vector<double> member_gamma = {};
  double reward_scale = 1.0;
  // n: rewards of this many rows count before the value of the row after them does. A shorter
  // return ends where the episode or the unroll does.
  std::int64_t n_step = 1;
  // Values are h(Q) for Q the discounted return, with the signed hyperbolic h of Pohlen et al. 2018
  // ("Observe and Look Further"), equation 2, so the target is h(sum of rewards + gamma^n h^-1(v)).
  bool transformed = false;
};

// Returns the targets of the action values of the rows, [T, B], of at most n steps each. `value`
// [T+1, B] is what a row is worth. A TERMINATED row ends a return, a TRUNCATED row bootstraps from
// V(final); where the final observation was lost, the return of an earlier row bootstraps from the
// TRUNCATED row itself. `bonus` [T+1, B] is what arriving in a row earns besides, as the entropy
// does in soft returns; empty: nothing. REQUIRES: batch.Validate accepted the batch, and there is
// no bonus with `transformed`, and with member_gamma observations have at least N numbers.
std::vector<float> ActionValueTargets(const UnrollBatch& batch, std::span<const float> value,
                                      const ActionValueTargetOptions& options,
                                      std::span<const float> bonus = {});

// What a network says of the rows of a batch: the action that it prefers, what that is worth, and
// what the recorded one is worth, [T+1, B] each.
struct PreferenceView {
  std::span<const std::int64_t> preferred_action;
  std::span<const float> value;
  std::span<const float> recorded_value;
};

// Returns the Retrace targets (estimators/retrace.h) of the action values of the rows, [T, B], for
// the policy that always takes the preferred action: rewards count with the factor `lambda` a row
// as long as the recorded actions are the preferred ones. The n steps of the options do not matter.
// Ends of episodes are as in ActionValueTargets. REQUIRES: batch.Validate accepted the batch, whose
// actions are numbers.
std::vector<float> RetraceActionValueTargets(const UnrollBatch& batch, const PreferenceView& view,
                                             double lambda,
                                             const ActionValueTargetOptions& options);

}  // namespace shoal::algorithms
