// SPDX-License-Identifier: Apache-2.0
// Estimates of what the rows of a batch were worth: advantages for the policy and targets for the
// value.
//
// The functions are pure, over [T, B] arrays. Only this file implements the rules of
// proto/unroll.proto for ends of episodes. A TERMINATED row ignores everything after it. A
// TRUNCATED row before a FINAL row bootstraps from V(final) and looks no further. A TRUNCATED row
// whose final observation was lost has advantage 0 and no weight. Every other row at the end of its
// column bootstraps from the bootstrap row.
#pragma once

#include <span>
#include <vector>

#include "rl/algorithms/unroll_batch.h"

namespace shoal::algorithms {

// V-trace (Espeholt et al. 2018, "IMPALA"): value targets and advantages from data of an older
// policy. It is a pure function of one sequence.
//
// Caps on the importance weight pi / mu: in the temporal difference (rho), in the trace (c), and in
// the policy's advantage.
struct VtraceOptions {
  double clip_rho = 1.0;
  double clip_c = 1.0;
  double clip_advantage_rho = 1.0;
};

// One sequence of T steps.
struct VtraceSteps {
  // log pi(a) - log mu(a).             [T]
  std::span<const float> log_ratio;
  std::span<const float> reward;    // [T]
  std::span<const float> discount;  // [T], 0 where the step ended its episode
  // The trace factor: lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
  std::span<const float> value;  // [T+1]
};

struct VtraceEstimate {
  std::vector<float> value;      // [T], v_t
  std::vector<float> advantage;  // [T], for the policy gradient
};

// REQUIRES: the sizes above.
VtraceEstimate Vtrace(const VtraceSteps& steps, const VtraceOptions& options);

// A policy's view of a batch.
struct PolicyView {
  std::span<const float> log_probability;  // [T, B], of the rows' actions
  std::span<const float> value;            // [T+1, B]
};

// Returns the recorded view of the behaviour policy. It borrows the batch.
PolicyView BehaviourView(const UnrollBatch& batch);

struct Targets {
  std::vector<float> advantage;  // [T, B]
  std::vector<float> value;      // [T, B]
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

// Returns generalised advantages (Schulman et al. 2016); the target of a value is advantage plus
// value. With lambda 1 the targets are discounted returns. REQUIRES: batch.Validate accepted the
// batch.
Targets GeneralisedTargets(const UnrollBatch& batch, const PolicyView& view,
                           const TargetOptions& options);

// Returns V-trace targets (Espeholt et al. 2018, equation 1) with the importance weights of `view`
// against the behaviour policy. The trace is cut where an episode ends. REQUIRES: batch.Validate
// accepted the batch.
Targets VtraceTargets(const UnrollBatch& batch, const PolicyView& view,
                      const TargetOptions& options, const VtraceOptions& clips);

// Generalised advantage estimation (Schulman et al. 2016) as a pure function.
//
// One sequence of T steps.
struct AdvantageSteps {
  std::span<const float> reward;  // [T]
  std::span<const float> value;   // [T+1]
  // The factor on the next value: gamma, or 0 where the step terminated its episode. [T]
  std::span<const float> discount;
  // The factor on the next advantage: lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
};

// Returns A_t = r_t + discount_t V_{t+1} - V_t + discount_t trace_t A_{t+1}. If every trace is 1,
// A_t + V_t is the discounted return with the last value as its tail. REQUIRES: the sizes above.
std::vector<float> GeneralisedAdvantages(const AdvantageSteps& steps);

}  // namespace shoal::algorithms
