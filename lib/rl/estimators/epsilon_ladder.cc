// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/epsilon_ladder.h"

#include <cmath>

#include "platform/runtime/check.h"

namespace shoal::estimators {

double LadderEpsilon(std::size_t actor, std::size_t actors, const EpsilonLadderOptions& options) {
  SHOAL_CHECK(actor < actors);
  if (actors == 1) return options.base;
  const double rung = static_cast<double>(actor) / static_cast<double>(actors - 1);
  return std::pow(options.base, 1 + options.exponent * rung);
}

}  // namespace shoal::estimators
