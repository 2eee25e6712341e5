// SPDX-License-Identifier: Apache-2.0
// The content of a goal's file, before it is bound to a capture. data/goals/README.md explains the
// keys.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_places.h"
#include "redfish/goals/situation.h"

namespace shoal::redfish {

struct Phrasings {
  std::vector<PhrasePattern> train;
  // Sentences as they are, without alternatives.
  std::vector<std::string> evaluate;
};

// A property with the values that it may have once its target is reached, and before.
struct TargetProperty {
  std::string pointer;
  // Whether the property is an array with one of the `wanted` values as an element.
  bool contains = false;
  std::vector<nlohmann::json> wanted;
  std::vector<nlohmann::json> start;
};

// One resource that the goal wants in some state. The target is dropped where the capture lacks it.
struct GoalTarget {
  std::string name;
  // A landmark: "system", "chassis", "manager", "network_protocol".
  std::string resource;
  // Landmarks whose property of the same name always has the same value, e.g. a chassis'
  // PowerState.
  std::vector<std::string> along;
  // True: any one of the properties is enough, and absent ones do not count. False: all must exist.
  bool any = false;
  // Whether the target is part of the predicate; otherwise it is a milestone only.
  bool in_predicate = true;
  // The least number of mutations that reach the target.
  std::int64_t cost = 1;
  std::vector<TargetProperty> properties;
  Phrasings phrasings;
};

// A property of a landmark or place.
struct LandmarkProperty {
  std::string resource;
  std::string pointer;
  nlohmann::json value;
  // True: the property is that of all members of the resource.
  bool members = false;
  // A condition that restricts `members` to those that fulfilled it in the capture. Null includes
  // all members, even those that are made during an episode.
  nlohmann::json where = nullptr;
  bool operator==(const LandmarkProperty&) const = default;
};

struct Goal::Definition {
  std::int64_t id = 0;
  std::string name;
  Phrasings phrasings;
  // The generator by parameter name, which is also the slot's name.
  std::map<std::string, std::string> parameters;
  // The values that a parameter must not draw: "$values:..".
  std::map<std::string, nlohmann::json> taken;
  // A goal has either targets or situations.
  std::vector<GoalTarget> targets;
  std::vector<Situation> situations;
  // What a person's sentence says when it asks for the goal, as lib/text/intent reads it; may be
  // empty.
  nlohmann::json sentence = nlohmann::json::object();
  std::vector<GoalPlace> places;
  std::vector<Reading> readings;
  std::vector<Reading> orders;
  std::vector<ValueGroup> choices;
  // Values of further slots, which may refer to parameters.
  std::map<std::string, nlohmann::json> slots;
  // Milestones in addition to those of targets.
  std::vector<nlohmann::json> milestones;
  Plan plan;
  // Further conditions of the predicate, with "$system" for URIs.
  std::vector<nlohmann::json> require;
  std::vector<LandmarkProperty> start;
  std::vector<LandmarkProperty> allowed;
  // The system must offer one of these reset types; empty means that none is needed.
  std::vector<std::string> reset_types;
  // The number of mutations that no start saves, e.g. the restart.
  std::int64_t base_cost = 0;
  // The share of starts in which the goal holds already.
  double satisfied_share = 0.3;
  // The share of targets that hold already in the other starts.
  double partial_share = 0.25;
  // The names of goals that leave nothing behind in this goal's starts.
  std::vector<std::string> no_leftovers_of;
};

// Reads a goal from `toml`. INVALID_ARGUMENT naming `path` and the wrong key; a phrasing for
// evaluation must not be one for training. Parts and lists of synonyms are read from the folder of
// `path`.
absl::StatusOr<std::unique_ptr<const Goal::Definition>> ReadGoalDefinition(const std::string& path,
                                                                           const std::string& toml);

// The parts of a larger goal, which is their conjunction.
//
// The goal takes over their places, parameters, slots, readings, choices, conditions, milestones,
// starts and side-effect budgets. Its phrasings, plan, resets and possible leftovers are its own.
using GoalPart = std::unique_ptr<const Goal::Definition>;

// Adds `part` to `whole`; whatever both have is added once. INVALID_ARGUMENT naming a name that
// means two different things, and for a part that has targets, orders, or other choices than an
// earlier part.
absl::Status AddPart(const Goal::Definition& part, Goal::Definition& whole);

// Prepends the starts of the situations in `situation.of` to its own, in the order of `parts`. The
// situation is possible where all of them are. INVALID_ARGUMENT unless it names one situation of
// each part.
absl::Status AddStarts(const std::vector<GoalPart>& parts, Situation& situation);

}  // namespace shoal::redfish
