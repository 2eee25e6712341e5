// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/placement_environment.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "placement/group_graph.h"
#include "placement/rules.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

using placement::GradualPlacement;
using placement::Placement;
using placement::Simulator;

constexpr double kScale = 100;

using Rule = absl::StatusOr<Placement> (*)(const PlacementTask&, Simulator&);

absl::StatusOr<Placement> OneDevice(const PlacementTask&, Simulator& simulator) {
  return placement::OnOneDevice(simulator);
}

absl::StatusOr<Placement> EvenSplit(const PlacementTask& task, Simulator& simulator) {
  return placement::SplitEvenly(placement::MakeGroupGraph(task.graph, simulator),
                                placement::FastestDevices(simulator));
}

absl::StatusOr<Placement> ByHeft(const PlacementTask& task, Simulator& simulator) {
  return placement::Heft(task.graph, task.devices, simulator);
}

absl::StatusOr<Placement> ByFirstChoices(const PlacementTask& task, Simulator&) {
  return placement::PlaceByFirstChoices(task.graph, task.devices);
}

const std::vector<std::pair<const char*, Rule>>& Rules() {
  static const std::vector<std::pair<const char*, Rule>> rules = {
      {"one device", OneDevice},
      {"even split", EvenSplit},
      {"HEFT", ByHeft},
      {"first choices", ByFirstChoices}};
  return rules;
}

}  // namespace

PlacementEnvironment::PlacementEnvironment(std::shared_ptr<const PlacementTasks> tasks,
                                           std::uint64_t seed, OnPlaced on_placed)
    : tasks_(std::move(tasks)), seed_(seed), on_placed_(std::move(on_placed)) {}

EnvironmentSpec PlacementEnvironment::SpecOf(const PlacementOptions& options) {
  const auto size = GradualPlacement::ObservationSize(static_cast<std::size_t>(options.choices));
  return {.observation_name = "numeric",
          .observation_shape = {static_cast<std::int64_t>(size)},
          .actions = options.choices};
}

std::vector<Pair> PlacementEnvironment::Pairs() {
  std::vector<Pair> pairs;
  for (const auto& [name, rule] : Rules()) pairs.push_back({.goal = "", .capture = name});
  return pairs;
}

absl::Status PlacementEnvironment::Begin(const EpisodeStart& start) {
  runtime::Random random(
      runtime::DeriveSeed(seed_, "environment " + std::to_string(start.environment_id)),
      start.episode);
  SHOAL_ASSIGN_OR_RETURN(const PlacementTask task, tasks_->Draw(random));
  SHOAL_ASSIGN_OR_RETURN(
      placement_, GradualPlacement::Create(task.graph, task.devices,
                                           static_cast<std::size_t>(tasks_->options.choices)));
  facts_ = {};
  scale_ = kScale;
  rule_cost_ = 1;
  if (!start.evaluation || !start.pair) return absl::OkStatus();
  const auto& [name, rule] = Rules().at(*start.pair);
  facts_.capture = name;
  SHOAL_ASSIGN_OR_RETURN(Simulator simulator, Simulator::Create(task.graph, task.devices));
  SHOAL_ASSIGN_OR_RETURN(const Placement placed, rule(task, simulator));
  SHOAL_ASSIGN_OR_RETURN(const placement::Step step, simulator.Run(placed));
  rule_cost_ = placement_->CostOf(step);
  constexpr double kLeastCost = 1e-9;
  scale_ = kScale / std::sqrt(std::max(rule_cost_, kLeastCost));
  return absl::OkStatus();
}

void PlacementEnvironment::Reset(const EpisodeStart& start, Done done) {
  const absl::Status status = Begin(start);
  if (!status.ok()) {
    done(status);
    return;
  }
  done(Transition{.observation = Observe()});
}

void PlacementEnvironment::Step(std::int64_t action, Done done) {
  if (action < 0 || action >= tasks_->options.choices) {
    done(runtime::InvalidArgument("placement has actions 0 to " +
                                  std::to_string(tasks_->options.choices - 1) + ", not " +
                                  std::to_string(action)));
    return;
  }
  const double worth = placement_->Place(static_cast<std::size_t>(action));
  ++facts_.steps;
  Transition transition{.reward = static_cast<float>(scale_ * worth)};
  if (placement_->Ended()) {
    transition.end = End::kTerminated;
    facts_.success = facts_.clean = placement_->CostOf(placement_->step()) <= rule_cost_;
    on_placed_(placement_->placement());
  }
  transition.observation = Observe();
  done(std::move(transition));
}

Observation PlacementEnvironment::Observe() const {
  Observation observation;
  observation.numeric.resize(
      GradualPlacement::ObservationSize(static_cast<std::size_t>(tasks_->options.choices)));
  placement_->Observe(observation.numeric);
  return observation;
}

}  // namespace shoal::actor
