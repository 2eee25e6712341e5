// SPDX-License-Identifier: Apache-2.0
// V-trace (Espeholt et al. 2018): value targets and advantages from data of an older policy.
#pragma once

#include <span>
#include <vector>

namespace shoal::algorithms {

struct VtraceOptions {
  double lambda = 1.0;
  // Caps on the probability ratio in the targets' error, in the trace and in the advantage.
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
  std::span<const float> value;     // [T+1]
};

struct VtraceTargets {
  std::vector<float> value;      // [T], v_t
  std::vector<float> advantage;  // [T], of the policy gradient
};

// REQUIRES: the sizes above.
VtraceTargets Vtrace(const VtraceSteps& steps, const VtraceOptions& options);

}  // namespace shoal::algorithms
