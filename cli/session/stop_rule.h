// SPDX-License-Identifier: Apache-2.0
// Decides when a policy is good enough to end training: when several greedy evaluations in a row
// reach all bars.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/results/evaluation.h"
#include "cli/session/train_options.h"

namespace shoal::cli {

// Returns the success rate when there are goals, otherwise the mean return.
double ScoreOf(const Evaluation& evaluation, const Score& score);

class StopRule {
 public:
  explicit StopRule(const TrainOptions& options) : options_(options) {}

  // Takes a greedy evaluation of the learned policy as it was after so many environment steps.
  // Returns true when training may end.
  bool Observe(const Evaluation& evaluation, double environment_steps);

  // Takes an evaluation of fresh episodes of the policy that was good enough. Returns true if it
  // reaches all bars too; otherwise good evaluations are counted anew.
  bool Confirm(const Evaluation& evaluation);

  // The environment steps after which the policy was good enough: those of the first of the
  // evaluations in a row. None until training may end.
  std::optional<double> reached_steps() const;

 private:
  bool ReachesBars(const Evaluation& evaluation) const;

  const TrainOptions options_;
  std::int64_t in_a_row_ = 0;
  double first_steps_ = 0;
};

}  // namespace shoal::cli
