// SPDX-License-Identifier: Apache-2.0
#include "inference/core/environment_state.h"

namespace shoal::inference {

void BeginEpochAt(RoundState& state, const parameters::Version& current) {
  const std::uint64_t before = current.step - (current.step > 0 ? 1 : 0);
  for (EnvironmentState& environment : state.environments) {
    ++environment.incarnation;
    for (parameters::Version& version : environment.unroll.versions) {
      const bool known = version.epoch == state.acted.epoch && version.step <= state.acted.step;
      const std::uint64_t lag = known ? state.acted.step - version.step : before;
      version = {current.epoch, before - (lag < before ? lag : before)};
    }
  }
  state.acted = {current.epoch, before};
}

}  // namespace shoal::inference
