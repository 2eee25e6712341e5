// SPDX-License-Identifier: Apache-2.0
// Retrace: targets of action values from steps that another policy took (Munos et al. 2016, "Safe
// and Efficient Off-Policy Reinforcement Learning", equation 3).
//
// With the policy pi whose values are sought, the policy mu that acted, and
// c_t = trace_{t-1} min(1, pi(a_t) / mu(a_t)), the target of Q(s_t, a_t) is
//
//   G_t = r_t + discount_t (E_pi Q(s_{t+1}, .) + c_{t+1} (G_{t+1} - Q(s_{t+1}, a_{t+1})))
//
// The last step bootstraps: its target is r_t + discount_t E_pi Q(s_{t+1}, .). The fixed point is
// Q^pi, whatever mu was, as long as it takes every action that pi takes.
//
// The ends of episodes lie in discount and trace. A step that terminated its episode has discount
// 0. A step that was truncated keeps its discount, so that it bootstraps from the expected value
// of its final observation; its trace is 0, so that nothing behind it reaches it.
#pragma once

#include <span>
#include <vector>

#include "rl/estimators/value_transform.h"

namespace shoal::estimators {

// One sequence of T steps.
struct RetraceSteps {
  // log pi(a_t) - log mu(a_t), [T]. The first is not used: Q already knows the first action.
  std::span<const float> log_ratio;
  std::span<const float> reward;    // [T]
  std::span<const float> discount;  // [T], gamma, or 0 where the step terminated its episode
  // Lambda, or 0 where another episode (or nothing) follows. [T]
  std::span<const float> trace;
  // Q(s_t, a_t) of the actions taken. [T]
  std::span<const float> action_value;
  // E_pi Q(s_{t+1}, .) of the observation that step t led to, which ExpectedValue computes. [T]
  std::span<const float> next_value;
};

// Returns sum_a pi(a) h^-1(Q(a)) for one observation, in the units of rewards. REQUIRES: as many
// probabilities as values.
double ExpectedValue(std::span<const float> probability, std::span<const float> action_value,
                     ValueTransform transform = ValueTransform::kIdentity);

// Returns G_t, [T]. REQUIRES: the sizes above.
std::vector<float> RetraceTargets(const RetraceSteps& steps);

// Returns h(G_t) for a network that predicts h(Q). `action_value` is what the network predicts.
// `next_value` is in the units of rewards, as ExpectedValue with the same `transform` returns it,
// because the expectation of h^-1(Q) is not h^-1 of the expectation. REQUIRES: the sizes above.
std::vector<float> TransformedRetraceTargets(const RetraceSteps& steps, ValueTransform transform);

}  // namespace shoal::estimators
