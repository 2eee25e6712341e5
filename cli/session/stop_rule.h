// SPDX-License-Identifier: Apache-2.0
// Says when a policy is good enough to end training: several greedy evaluations in a row over the
// bars.
#pragma once

#include <cstdint>

#include "cli/results/evaluation.h"
#include "cli/session/train_options.h"

namespace shoal::cli {

// Success where there are goals, else mean return.
double ScoreOf(const Evaluation& evaluation, const Score& score);

class StopRule {
 public:
  explicit StopRule(const TrainOptions& options) : options_(options) {}

  // True when this evaluation of the learned policy is the last one needed.
  bool Observe(const Evaluation& evaluation);

 private:
  const TrainOptions options_;
  std::int64_t in_a_row_ = 0;
};

}  // namespace shoal::cli
