// SPDX-License-Identifier: Apache-2.0
// The epsilon ladder: each of N actors explores with a fixed epsilon of its own, so that together
// they always do everything from playing well to trying anything (Horgan et al. 2018, "Ape-X",
// section 4).
#pragma once

#include <cstddef>

namespace shoal::estimators {

struct EpsilonLadderOptions {
  // The epsilon of actor 0, which explores most.
  double base = 0.4;
  // The last actor has base^(1 + exponent).
  double exponent = 7.0;
};

// Returns base^(1 + exponent i / (N - 1)) for actor i of N; base for a single actor. REQUIRES:
// i < N.
double LadderEpsilon(std::size_t actor, std::size_t actors,
                     const EpsilonLadderOptions& options = {});

}  // namespace shoal::estimators
