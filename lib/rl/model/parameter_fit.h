// SPDX-License-Identifier: Apache-2.0
// Carries parameters over to a network with layers of other sizes: what both have is kept.
//
// A number of a parameter belongs to one segment of each axis (ParameterInfo::axes), as a weight of
// a core belongs to a gate and to an input. Numbers of segments with the same names are copied as
// far as both segments reach. What only the new network has keeps its start value, with two
// exceptions: units that were there before get weight 0 from what is new, and a longer query begins
// with zeros, because the logits add up its products with a longer key. So a network whose layers
// and inputs have only grown computes what it did before (Berner et al. 2019, "Dota 2 with large
// scale deep reinforcement learning", appendix B, "surgery").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rl/model/parameter_layout.h"

namespace shoal::model {

// What became of the parameters, by name, with shapes where something changed.
struct FitReport {
  std::vector<std::string> kept;     // all numbers, and none is new
  std::vector<std::string> changed;  // some numbers are kept, others are new or were cut off
  std::vector<std::string> added;    // all numbers are new
  std::vector<std::string> dropped;  // none of its numbers is kept
};

// Writes what `from` and `to` both have from `old` into `values`, which holds the start values of
// `to`. REQUIRES: each array has `total` floats of its layout, and both layouts are of policies.
FitReport FitParameters(const ParameterLayout& from, std::span<const float> old,
                        const ParameterLayout& to, std::span<float> values);

// The same for numbers that belong to the trainable parameters, as an optimiser's moments do. All
// that is new gets the number `start`, and the floats between parameters are 0. REQUIRES: `old` has
// `trainable` floats of its layout.
std::vector<float> FitMoments(const ParameterLayout& from, std::span<const float> old,
                              const ParameterLayout& to, float start);

// Returns what changed, was added and was dropped as one line for people; empty if nothing.
std::string ToString(const FitReport& report);

}  // namespace shoal::model
