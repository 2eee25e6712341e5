// SPDX-License-Identifier: Apache-2.0
// What a goal's file says, before it meets a capture. data/goals/README.md explains the keys.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_places.h"
#include "redfish/goals/situation.h"

namespace shoal::redfish {

struct Phrasings {
  std::vector<std::string> train;
  std::vector<std::string> evaluate;

  const std::vector<std::string>& Of(Split split) const {
    return split == Split::kTrain ? train : evaluate;
  }
};

// Values that a property may have when its target is reached, and before.
struct TargetProperty {
  std::string pointer;
  // The property is an array, and `wanted` values are elements of it.
  bool contains = false;
  std::vector<nlohmann::json> wanted;
  std::vector<nlohmann::json> start;
};

// One resource that the goal wants in some state; dropped where the capture lacks it.
struct GoalTarget {
  std::string name;
  // Landmark: "system", "chassis", "manager", "network_protocol".
  std::string resource;
  // Landmarks whose equal property moves along, e.g. a chassis' PowerState.
  std::vector<std::string> along;
  // Any one of the properties is enough, and absent ones do not count; otherwise all must exist.
  bool any = false;
  // Part of the predicate; otherwise a milestone only.
  bool in_predicate = true;
  // Least number of mutations that reach it.
  std::int64_t cost = 1;
  std::vector<TargetProperty> properties;
  Phrasings phrasings;
};

// A property of a landmark or place.
struct LandmarkProperty {
  std::string resource;
  std::string pointer;
  nlohmann::json value;
  // Of all members of the resource instead.
  bool members = false;
  // A condition: of the members alone that fulfilled it when they were captured; null: of all,
  // those that come during an episode, too.
  nlohmann::json where = nullptr;
  bool operator==(const LandmarkProperty&) const = default;
};

struct Goal::Definition {
  std::int64_t id = 0;
  std::string name;
  Phrasings phrasings;
  // Generator by parameter (and slot) name.
  std::map<std::string, std::string> parameters;
  // Values that a parameter does not draw: "$values:..".
  std::map<std::string, nlohmann::json> taken;
  // Either targets or situations.
  std::vector<GoalTarget> targets;
  std::vector<Situation> situations;
  std::vector<GoalPlace> places;
  std::vector<Reading> readings;
  std::vector<Reading> orders;
  std::vector<ValueGroup> choices;
  // Values of further slots, which parameters may fill.
  std::map<std::string, nlohmann::json> slots;
  // Conditions beside those of targets.
  std::vector<nlohmann::json> milestones;
  Plan plan;
  // Further conditions of the predicate, with "$system" for URIs.
  std::vector<nlohmann::json> require;
  std::vector<LandmarkProperty> start;
  std::vector<LandmarkProperty> allowed;
  // The system must offer one of these; empty: none is needed.
  std::vector<std::string> reset_types;
  // Mutations that no start saves, e.g. the restart.
  std::int64_t base_cost = 0;
  // Share of starts in which the goal holds already.
  double satisfied_share = 0.3;
  // Share of targets that hold already in the other starts.
  double partial_share = 0.25;
  // Names of goals that leave nothing in this one's starts.
  std::vector<std::string> no_leftovers_of;
};

// INVALID_ARGUMENT naming `path` and the key that is wrong; a phrasing of evaluation that is one of
// training's is wrong. Parts are read beside it.
absl::StatusOr<std::unique_ptr<const Goal::Definition>> ReadGoalDefinition(const std::string& path,
                                                                           const std::string& toml);

// Whether `generator` names one of DrawParameter's.
bool IsGenerator(std::string_view generator);
// A fresh value: "tag" an asset tag, "host" a host name or address, "user" a user name, "password",
// "url", "version" a firmware's.
std::string DrawParameter(std::string_view generator, runtime::Random& random);

// Goals that a larger goal is the conjunction of.
//
// It takes over their places, parameters, slots, readings, choices, conditions, milestones, starts
// and side-effect budgets. Phrasings, the plan, resets and what may be left over are its own.
using GoalPart = std::unique_ptr<const Goal::Definition>;

// What both have is taken once. INVALID_ARGUMENT naming what means two things under one name; for a
// part that has targets, orders, or choices beside those of another part.
absl::Status AddPart(const Goal::Definition& part, Goal::Definition& whole);

// Puts the starts of the parts' situations that `situation` is of, in the order of `parts`, before
// its own; it is possible where all of them are. INVALID_ARGUMENT unless it names one of each part.
absl::Status AddStarts(const std::vector<GoalPart>& parts, Situation& situation);

}  // namespace shoal::redfish
