// SPDX-License-Identifier: Apache-2.0
// Double Q-learning: one network chooses the next action and another one values it, so that noise
// does not choose and value itself (van Hasselt et al. 2016, equation 4).
//
//   y_t = r_t + discount_t Q'(s_{t+1}, argmax_a Q(s_{t+1}, a))
//
// Targets over several steps take DoubleQValue as `next_value` of returns.h. As h of
// value_transform.h increases, it does not change the argmax: a network that predicts h(Q) enters
// as it is.
//
// A step that terminated its episode has discount 0. A step that was truncated keeps its discount;
// the action values are then those of its final observation.
#pragma once

#include <span>

namespace shoal::estimators {

// Returns what `target` gives to the action that `online` values most; of equals, to the first.
// Both have a value for each action of one observation. REQUIRES: they are equally many, at least
// one, and numbers.
double DoubleQValue(std::span<const float> online, std::span<const float> target);

// Returns y_t, given the action values of s_{t+1}. REQUIRES: as above.
double DoubleQTarget(double reward, double discount, std::span<const float> online,
                     std::span<const float> target);

}  // namespace shoal::estimators
