// SPDX-License-Identifier: Apache-2.0
// V-trace (Espeholt et al. 2018, "IMPALA"): value targets and advantages from data of an older
// policy. It is a pure function of one sequence.
#pragma once

#include <span>
#include <vector>

namespace shoal::algorithms {

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

}  // namespace shoal::algorithms
