// SPDX-License-Identifier: Apache-2.0
// A goal bound to one capture: URIs replace landmarks, and absent properties are dropped.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "redfish/capture/landmarks.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::redfish {

struct BoundTarget {
  // The target from the goal's file, with only the properties that this capture has.
  GoalTarget target;
  std::string uri;
  // The URIs of `target.along` that have the property.
  std::vector<std::string> along;
};

// A target that another goal may have left behind.
struct Leftover {
  BoundTarget target;
  std::map<std::string, std::string> parameters;
};

struct AppliedGoal::Binding {
  std::shared_ptr<const Goal> goal;
  std::string capture_name;
  Starts starts = Starts::kDrawn;
  std::vector<BoundTarget> targets;
  std::vector<Leftover> leftovers;
  std::vector<nlohmann::json> require;
  std::vector<StartOperation> start;
  std::set<PropertyPath> allowed;
  // The watch of all episodes, for a goal without situations and parameters; else nothing.
  std::optional<Watch> watch;
  // The names of resources that phrasings may use: {system}, {chassis}, {manager}.
  std::map<std::string, std::string> names;
  // The situations that this capture allows, with URIs in place of "$names" and without "if" and
  // "unless".
  std::vector<Situation> situations;
  std::vector<std::map<std::string, nlohmann::json>> choices;
  // The values that the goal reads in the capture.
  Values readings;
  // The values that a parameter must not draw, as arrays by parameter name.
  std::map<std::string, nlohmann::json> taken;
  std::map<std::string, nlohmann::json> orders;
  std::vector<nlohmann::json> milestones;
  Plan plan;
};

// Values by name, for "{name}" in texts.
using TextValues = std::map<std::string, std::string>;

// Returns the values that are no objects, as they stand in texts.
TextValues TextsOf(const Values& values);

// Returns the watch of an episode with `values` as JSON (watch.h), for a goal with targets.
nlohmann::json WatchOf(const AppliedGoal::Binding& binding, const TextValues& values);
// Returns the same for a goal with situations.
nlohmann::json SituationWatchOf(const AppliedGoal::Binding& binding, const Values& values);

// Returns `text` with every "{name}" of `values` replaced.
std::string FillText(const std::string& text, const TextValues& values);
// Returns `json` with FillText applied to every text in it.
nlohmann::json FillJson(const nlohmann::json& json, const TextValues& values);

}  // namespace shoal::redfish
