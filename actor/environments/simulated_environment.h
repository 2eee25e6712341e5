// SPDX-License-Identifier: Apache-2.0
// An environment in process, made of a simulation: it checks actions, truncates episodes at the
// step limit and keeps the facts of the episode.
//
// Completions run inline. A truncated episode hands out its final observation, which bootstraps. An
// episode that terminates with its last allowed step is terminated. The one allocation of a step is
// the observation that it gives away.
#pragma once

#include <cstdint>
#include <memory>

#include "actor/environments/classic/simulation.h"
#include "actor/environments/environment.h"

namespace shoal::actor {

class SimulatedEnvironment final : public Environment {
 public:
  // Episodes start from draws of `seed` by environment and episode.
  SimulatedEnvironment(std::unique_ptr<Simulation> simulation, std::uint64_t seed);

  static EnvironmentSpec SpecOf(const SimulationSpec& simulation);
  static Pair PairOf(const SimulationSpec& simulation);

  void Reset(const EpisodeStart& start, Done done) override;
  // INVALID_ARGUMENT for an action that the simulation does not have.
  void Step(std::int64_t action, Done done) override;
  EpisodeFacts facts() const override;

 private:
  Observation Observe() const;

  const std::unique_ptr<Simulation> simulation_;
  const std::uint64_t seed_;
  const std::size_t observation_size_;
  int steps_ = 0;
  double return_ = 0;
};

}  // namespace shoal::actor
