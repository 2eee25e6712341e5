// SPDX-License-Identifier: Apache-2.0
// An environment in process, made of a simulation: it checks actions, truncates episodes at the
// step limit and keeps the facts of the episode.
//
// Completions run inline. A truncated episode hands out its final observation, which bootstraps. An
// episode that terminates with its last allowed step is terminated. The one allocation of a step is
// the observation that it gives away; with hindsight also what it tells of goals. An episode is
// told again under another goal by playing it again, so observations, rewards and ends cannot
// differ from those of an episode that had that goal.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actor/environments/classic/simulation.h"
#include "actor/environments/environment.h"

namespace shoal::actor {

class SimulatedEnvironment final : public Environment {
 public:
  // Episodes start from draws of `seed` by environment and episode. With `hindsight` steps tell the
  // goals that they achieve, if the simulation has goals.
  SimulatedEnvironment(std::unique_ptr<Simulation> simulation, std::uint64_t seed,
                       bool hindsight = false);

  static EnvironmentSpec SpecOf(const SimulationSpec& simulation);
  static Pair PairOf(const SimulationSpec& simulation);

  void Reset(const EpisodeStart& start, Done done) override;
  // INVALID_ARGUMENT for an action that the simulation does not have. A point outside the box is
  // one that it has, and counts as the nearest one inside.
  void Step(std::int64_t action, Done done) override;
  void StepBox(std::span<const float> action, Done done) override;
  // FAILED_PRECONDITION for a goal that the episode did not reach.
  absl::StatusOr<RelabelledEpisode> Relabel(std::uint64_t goal) override;
  EpisodeFacts facts() const override;

 private:
  // Counts a step of the episode, and returns what it led to.
  Transition Count(const SimulationStep& step);
  // What the simulation shows after the episode's `number`th step.
  Transition After(const SimulationStep& step, int number) const;
  // What the step has achieved that began in the state `before`.
  std::vector<AchievedGoal> Achieved(std::uint64_t before) const;
  Observation Observe() const;

  const std::unique_ptr<Simulation> simulation_;
  const std::uint64_t seed_;
  const std::size_t observation_size_;
  // Null without hindsight.
  SimulationGoals* const goals_;
  // What Relabel needs: the last episode's draws, its state at the start and its actions.
  EpisodeDraws draws_;
  std::uint64_t start_ = 0;
  std::vector<std::int64_t> actions_;
  int steps_ = 0;
  double return_ = 0;
};

}  // namespace shoal::actor
