// SPDX-License-Identifier: Apache-2.0
// The results of an evaluation in a line, for people and for scripts.
//
// Thread-safe: functions without state.
#pragma once

#include <string>

#include "cli/results/evaluation.h"

namespace shoal::cli {

// Returns a text such as "return 195.0" or "success 0.970  clean 1.00  (40 episodes)", with a line
// more for each pair that was given up.
std::string EvaluationNote(const Evaluation& evaluation);

// Returns how the line of a run's result begins, such as "result greedy=195.0" or
// "result success=0.970 episodes=40 steps_per_optimal=1.100". `held_out` names a capture that does
// not count, or is empty.
std::string ResultText(const Evaluation& evaluation, const std::string& held_out);

}  // namespace shoal::cli
