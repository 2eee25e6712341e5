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

// Returns the watch of an episode with `values` as JSON (watch.h).
nlohmann::json WatchOf(const AppliedGoal::Binding& binding, const TextValues& values);

// Returns `text` with every "{name}" of `values` replaced.
std::string FillText(const std::string& text, const TextValues& values);
// Returns `json` with FillText applied to every text in it.
nlohmann::json FillJson(const nlohmann::json& json, const TextValues& values);

// Draws a fresh value for each parameter, none that `taken` lists for it. A second draw, which the
// goal does not ask for, is under "other:<name>".
TextValues DrawValues(const std::map<std::string, std::string>& parameters,
                      const std::map<std::string, nlohmann::json>& taken, runtime::Random& random);
// Draws one of the goal's phrasings, adds noise, and fills in `values`. Half of the sentences of
// training begin with a capital.
std::string DrawText(const AppliedGoal::Binding& binding, TextValues values, Split split,
                     const TextNoise& noise, runtime::Random& random);
void DrawLeftovers(const AppliedGoal::Binding& binding, runtime::Random& random,
                   std::vector<StartOperation>& operations);
// Draws the rest of an episode of a goal with situations; `values` are those of its parameters.
absl::Status DrawSituation(const AppliedGoal::Binding& binding, const TextValues& values,
                           Split split, const TextNoise& noise, runtime::Random& random,
                           Episode& episode);
// Binds the goal's parts other than targets: situations, readings, choices, milestones, plan.
// NOT_FOUND when the capture lacks something that is needed.
absl::Status BindSituations(const Goal::Definition& goal, const Places& places,
                            const Capture& capture, AppliedGoal::Binding& binding);

// Returns nothing when the capture lacks what the target needs.
std::optional<BoundTarget> BindTarget(const GoalTarget& target, const Places& places,
                                      const Capture& capture, Starts starts);

// Returns the URI of a landmark or place; empty when the service has none.
const std::string& UriOf(const Places& places, const std::string& resource);

}  // namespace shoal::redfish
