// SPDX-License-Identifier: Apache-2.0
// The result of a simulation as a text for people and as JSON. Pure functions.
#pragma once

#include <string>

#include "cli/simulation/simulation.h"

namespace shoal::cli {

std::string ToText(const SimulationResult& result);
// One object on one line; shares are from 0 to 1.
std::string ToJson(const SimulationResult& result);

}  // namespace shoal::cli
