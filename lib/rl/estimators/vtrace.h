// SPDX-License-Identifier: Apache-2.0
// V-trace: value targets and advantages from steps that an older policy took (Espeholt et al. 2018,
// "IMPALA", section 4.1).
//
// With the importance weight w_t = pi(a_t) / mu(a_t), rho_t = min(clip_rho, w_t) and
// c_t = trace_t min(clip_c, w_t), the target of V(s_t) is
//
//   v_t = V(s_t) + rho_t (r_t + discount_t V(s_{t+1}) - V(s_t))
//         + discount_t c_t (v_{t+1} - V(s_{t+1}))                                  (equation 1)
//
// and the advantage for the policy gradient is
//
//   min(clip_advantage_rho, w_t) (r_t + discount_t q_{t+1} - V(s_t))
//   with q_{t+1} = trace_t v_{t+1} + (1 - trace_t) V(s_{t+1}).
//
// With trace 1, q_{t+1} is v_{t+1}, as in the paper. For a trace below 1 (the lambda of its remark
// 2) the mixture is that of rlax: it looks no further than the target does. After the last step, v
// and V are the last value.
//
// The ends of episodes lie in discount and trace. A step that terminated its episode has discount
// 0. A step that was truncated keeps its discount, so that it bootstraps from the value of the
// final observation, which is the next row; its trace is 0, so that nothing behind that row
// reaches it.
//
// Targets of a policy's own steps with trace 1 are returns to the end of the sequence. The fixed
// point is the value of a policy between mu and pi (equation 3): proportional to
// min(clip_rho mu, pi).
#pragma once

#include <span>
#include <vector>

namespace shoal::estimators {

// Caps on the importance weight: in the temporal difference, in the trace, and in the advantage.
struct VtraceOptions {
  double clip_rho = 1.0;
  double clip_c = 1.0;
  double clip_advantage_rho = 1.0;
};

// One sequence of T steps.
struct VtraceSteps {
  // log pi(a_t) - log mu(a_t).         [T]
  std::span<const float> log_ratio;
  std::span<const float> reward;    // [T]
  std::span<const float> discount;  // [T], gamma, or 0 where the step terminated its episode
  // Lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
  std::span<const float> value;  // [T+1]
};

struct VtraceEstimate {
  std::vector<float> value;      // [T], v_t
  std::vector<float> advantage;  // [T], for the policy gradient
};

// REQUIRES: the sizes above.
VtraceEstimate Vtrace(const VtraceSteps& steps, const VtraceOptions& options);

}  // namespace shoal::estimators
