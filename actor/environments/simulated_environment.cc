// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/simulated_environment.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal::actor {

SimulatedEnvironment::SimulatedEnvironment(std::unique_ptr<Simulation> simulation,
                                           std::uint64_t seed, bool hindsight)
    : simulation_(std::move(simulation)),
      seed_(seed),
      observation_size_(static_cast<std::size_t>(SpecOf(simulation_->spec()).observation_size())),
      goals_(hindsight ? simulation_->goals() : nullptr) {}

EnvironmentSpec SimulatedEnvironment::SpecOf(const SimulationSpec& simulation) {
  return {.observation_name = "numeric",
          .observation_shape = simulation.observation_shape,
          .observation_dtype = simulation.observation_dtype,
          .actions = simulation.actions,
          .action_low = simulation.action_low,
          .action_high = simulation.action_high,
          .tells_goals = simulation.has_goals};
}

Pair SimulatedEnvironment::PairOf(const SimulationSpec& simulation) {
  return {.goal = "", .capture = simulation.name};
}

void SimulatedEnvironment::Reset(const EpisodeStart& start, Done done) {
  draws_ = {.seed = seed_, .environment = start.environment_id, .episode = start.episode};
  simulation_->Reset(draws_);
  if (goals_ != nullptr) start_ = goals_->achieved();
  actions_.clear();
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
  const std::uint64_t before = goals_ == nullptr ? 0 : goals_->achieved();
  Transition transition = Count(simulation_->Step(action));
  if (goals_ != nullptr) {
    actions_.push_back(action);
    transition.achieved = Achieved(before);
  }
  done(std::move(transition));
}

void SimulatedEnvironment::StepBox(std::span<const float> action, Done done) {
  const SimulationSpec& spec = simulation_->spec();
  const bool fits =
      !action.empty() && action.size() == spec.action_low.size() &&
      std::all_of(action.begin(), action.end(), [](float x) { return !std::isnan(x); });
  if (!fits) {
    done(runtime::InvalidArgument(spec.name + " has actions of " +
                                  std::to_string(spec.action_low.size()) + " numbers, not of " +
                                  std::to_string(action.size()) + " or such that are none"));
    return;
  }
  std::vector<float> inside;
  for (std::size_t i = 0; i < action.size(); ++i) {
    inside.push_back(std::clamp(action[i], spec.action_low[i], spec.action_high[i]));
  }
  done(Count(simulation_->StepBox(inside)));
}

Transition SimulatedEnvironment::Count(const SimulationStep& step) {
  ++steps_;
  return_ += static_cast<double>(step.reward);
  return After(step, steps_);
}

Transition SimulatedEnvironment::After(const SimulationStep& step, int number) const {
  Transition transition{.observation = Observe(), .reward = step.reward};
  if (step.terminated) {
    transition.end = End::kTerminated;
  } else if (number >= simulation_->spec().step_limit) {
    transition.end = End::kTruncated;
  }
  return transition;
}

std::vector<AchievedGoal> SimulatedEnvironment::Achieved(std::uint64_t before) const {
  const std::uint64_t now = goals_->achieved();
  if (now == before || now == start_ || now == goals_->pursued()) return {};
  return {
      {.goal = now, .sentence = goals_->SentenceOf(now), .reward = goals_->reward_of_success()}};
}

absl::StatusOr<RelabelledEpisode> SimulatedEnvironment::Relabel(std::uint64_t goal) {
  if (goals_ == nullptr) return Environment::Relabel(goal);
  simulation_->Reset(draws_);
  goals_->Pursue(goal);
  RelabelledEpisode episode;
  episode.transitions.push_back({.observation = Observe()});
  for (const std::int64_t action : actions_) {
    episode.actions.push_back(action);
    episode.transitions.push_back(
        After(simulation_->Step(action), static_cast<int>(episode.actions.size())));
    if (episode.transitions.back().end == End::kTerminated) return episode;
  }
  return runtime::FailedPrecondition("the episode did not reach " + goals_->SentenceOf(goal));
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
  if (simulation_->spec().observation_dtype == runtime::DType::kUInt8) {
    observation.frame.resize(observation_size_);
    simulation_->ObserveFrame(std::as_writable_bytes(std::span(observation.frame)));
  } else {
    observation.numeric.resize(observation_size_);
    simulation_->Observe(observation.numeric);
  }
  return observation;
}

}  // namespace shoal::actor
