// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/simulated_environment.h"

#include <string>
#include <utility>

namespace shoal::actor {

SimulatedEnvironment::SimulatedEnvironment(std::unique_ptr<Simulation> simulation,
                                           std::uint64_t seed)
    : simulation_(std::move(simulation)),
      seed_(seed),
      observation_size_(static_cast<std::size_t>(SpecOf(simulation_->spec()).observation_size())) {}

EnvironmentSpec SimulatedEnvironment::SpecOf(const SimulationSpec& simulation) {
  return {.observation_name = "numeric",
          .observation_shape = simulation.observation_shape,
          .observation_dtype = simulation.observation_dtype,
          .actions = simulation.actions};
}

Pair SimulatedEnvironment::PairOf(const SimulationSpec& simulation) {
  return {.goal = "", .capture = simulation.name};
}

void SimulatedEnvironment::Reset(const EpisodeStart& start, Done done) {
  simulation_->Reset(
      {.seed = seed_, .environment = start.environment_id, .episode = start.episode});
  steps_ = 0;
  return_ = 0;
  done(Transition{.observation = Observe()});
}

void SimulatedEnvironment::Step(std::int64_t action, Done done) {
  const SimulationSpec& spec = simulation_->spec();
  if (action < 0 || action >= spec.actions) {
    done(runtime::InvalidArgument(spec.name + " has actions 0 to " +
                                  std::to_string(spec.actions - 1) + ", not " +
                                  std::to_string(action)));
    return;
  }
  const SimulationStep step = simulation_->Step(action);
  ++steps_;
  return_ += static_cast<double>(step.reward);
  Transition transition{.observation = Observe(), .reward = step.reward};
  if (step.terminated) {
    transition.end = End::kTerminated;
  } else if (steps_ >= spec.step_limit) {
    transition.end = End::kTruncated;
  }
  done(std::move(transition));
}

EpisodeFacts SimulatedEnvironment::facts() const {
  EpisodeFacts facts;
  facts.capture = simulation_->spec().name;
  facts.steps = steps_;
  facts.success = facts.clean = return_ >= simulation_->spec().success_return;
  return facts;
}

Observation SimulatedEnvironment::Observe() const {
  Observation observation;
  observation.numeric.resize(observation_size_);
  simulation_->Observe(observation.numeric);
  return observation;
}

}  // namespace shoal::actor
