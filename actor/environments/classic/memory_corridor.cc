// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/memory_corridor.h"

#include <algorithm>

namespace shoal::actor {

MemoryCorridor::MemoryCorridor(std::int64_t length)
    : length_(length),
      spec_({.name = "corridor",
             .observation_shape = {4},
             .actions = 3,
             .step_limit = static_cast<int>(4 * length + 8),
             .success_return = 1}) {}

void MemoryCorridor::Reset(const EpisodeDraws& draws) {
  up_ = draws.Uniform(0) < 0.5;
  cue_ = true;
  position_ = 0;
}

SimulationStep MemoryCorridor::Step(std::int64_t action) {
  cue_ = false;
  if (position_ < length_) {
    if (action == kForward) ++position_;
    return {};
  }
  if (action == kForward) return {};
  const bool right = (action == kUp) == up_;
  return {.reward = right ? 1.0F : 0.0F, .terminated = true};
}

void MemoryCorridor::Observe(std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  if (cue_) {
    out[up_ ? 0 : 1] = 1.0F;
  } else {
    out[position_ < length_ ? 2 : 3] = 1.0F;
  }
}

}  // namespace shoal::actor
