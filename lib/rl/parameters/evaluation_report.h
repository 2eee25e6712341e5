// SPDX-License-Identifier: Apache-2.0
// What an evaluation of one version returned, and how the learner is told.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/parameters/version.h"

namespace shoal::parameters {

struct EvaluationReport {
  Version version = {};
  // The mean return of so many greedy episodes.
  double mean_return = 0;
  std::uint64_t episodes = 0;
};

// Reports to rank 0 of the learner at "host:port". Blocks for at most `timeout`. The errors are
// those of the RPC (proto/evaluation.proto): UNAVAILABLE and DEADLINE_EXCEEDED where the learner is
// down or does not answer.
absl::Status SendEvaluation(const std::string& learner, const std::string& client,
                            const EvaluationReport& report, runtime::Duration timeout);

}  // namespace shoal::parameters
