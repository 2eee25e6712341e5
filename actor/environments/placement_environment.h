// SPDX-License-Identifier: Apache-2.0
// An environment in process in which an episode is one graph that is placed group by group.
//
// Observations, actions and what they are worth are those of placement/gradual_placement.h. In
// training, rewards add up to -100 times the square root of the placement's cost in steps of the
// fastest single device: -100 is as fast as that one, -50 four times as fast. In evaluations each
// pair compares with one rule, by its name as the pair's capture, and rewards add up to -100 times
// the root of the cost relative to that rule's; the episode is a success if it costs no more. A
// graph has at least one group, and an episode terminates with the last one.
//
// Completions run inline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/placement_tasks.h"
#include "placement/gradual_placement.h"

namespace shoal::actor {

class PlacementEnvironment final : public Environment {
 public:
  // Called with each placement that an episode ends with.
  using OnPlaced = std::function<void(const placement::Placement&)>;

  // Episodes draw their tasks from `seed` by environment and episode.
  PlacementEnvironment(
      std::shared_ptr<const PlacementTasks> tasks, std::uint64_t seed,
      OnPlaced on_placed = [](const placement::Placement&) {});

  static EnvironmentSpec SpecOf(const PlacementOptions& options);
  // One for each rule: one device, the even split, HEFT, and the first choice at every step.
  static std::vector<Pair> Pairs();

  // RESOURCE_EXHAUSTED where no task was found (placement_tasks.h).
  void Reset(const EpisodeStart& start, Done done) override;
  // INVALID_ARGUMENT for an action beyond the choices.
  void Step(std::int64_t action, Done done) override;
  EpisodeFacts facts() const override { return facts_; }

 private:
  absl::Status Begin(const EpisodeStart& start);
  Observation Observe() const;

  const std::shared_ptr<const PlacementTasks> tasks_;
  const std::uint64_t seed_;
  const OnPlaced on_placed_;
  // What the rewards of the running episode are multiplied by.
  double scale_ = 1;
  // What the placement must not cost more than to be a success.
  double rule_cost_ = 1;
  std::optional<placement::GradualPlacement> placement_;
  EpisodeFacts facts_;
};

}  // namespace shoal::actor
