// SPDX-License-Identifier: Apache-2.0
// A corridor with a cue at its start and a decision at its end: the T-maze (Bakker, "Reinforcement
// learning with long short-term memory", NIPS 2001).
//
// The first observation of an episode says whether to turn up or down at the junction, which is a
// number of cells away. On the way all cells look the same, and the cue is never shown again. A
// turn at the junction terminates the episode, with 1 if it is the right one and with nothing
// otherwise. Steps earn nothing, turns within the corridor do nothing, and walking on at the
// junction does nothing. A policy without a memory sees the same at every junction and is right in
// half of the episodes at best.
//
// The limit is four times the corridor's length and 8 steps more, which an agent that acts at
// random nearly always keeps.
#pragma once

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

class MemoryCorridor final : public Simulation {
 public:
  enum Action : std::int64_t { kForward = 0, kUp = 1, kDown = 2 };

  // `length` is the number of steps from the start to the junction. REQUIRES: length >= 1.
  explicit MemoryCorridor(std::int64_t length);

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  SimulationStep Step(std::int64_t action) override;
  // Four numbers of which one is 1: cue up, cue down, corridor, junction.
  void Observe(std::span<float> out) const override;

 private:
  const std::int64_t length_;
  const SimulationSpec spec_;
  bool up_ = false;
  bool cue_ = false;
  std::int64_t position_ = 0;
};

}  // namespace shoal::actor
