// SPDX-License-Identifier: Apache-2.0
// Chooses points of a box by Gaussians, squashed ones (squashed_gaussian.h) or others (gaussian.h).
// Pure.
#pragma once

#include <span>

#include "rl/model/policy.h"

namespace shoal::model {

// Writes the box_action and log_probability of all rows. `head` is [B, 2n]: means, then logarithms
// of deviations. REQUIRES: CheckInputs accepted `inputs`, and the spec has a box.
void ChooseBox(const PolicySpec& spec, const PolicyInputs& inputs, std::span<const float> head,
               PolicyOutputs& outputs);

}  // namespace shoal::model
