// SPDX-License-Identifier: Apache-2.0
// A goal bound to one capture: URIs in place of landmarks, absent properties dropped.
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
  // Of the goal's file, with the properties that this capture has.
  GoalTarget target;
  std::string uri;
  // Resources of `target.along` that have the property.
  std::vector<std::string> along;
};

// What another goal may have left behind.
struct Leftover {
  BoundTarget target;
  std::map<std::string, std::string> parameters;
};

struct AppliedGoal::Binding {
  std::shared_ptr<const Goal> goal;
  std::string capture_name;
  std::vector<BoundTarget> targets;
  std::vector<Leftover> leftovers;
  std::vector<nlohmann::json> require;
  std::vector<StartOperation> start;
  std::set<PropertyPath> allowed;
  // Of a goal without situations and parameters the watch of all its episodes; else nothing.
  std::optional<Watch> watch;
  // Names of resources that phrasings may use: {system}, {chassis}.
  std::map<std::string, std::string> names;
  // Those that this capture allows, with URIs in place of "$names" and no "if".
  std::vector<Situation> situations;
  std::vector<std::map<std::string, nlohmann::json>> choices;
  // What was read in the capture.
  Values readings;
  // What parameters do not draw, by name: arrays.
  std::map<std::string, nlohmann::json> taken;
  std::map<std::string, nlohmann::json> orders;
  std::vector<nlohmann::json> milestones;
  Plan plan;
};

// Values by name, for "{name}" in texts.
using TextValues = std::map<std::string, std::string>;

// What is watched in an episode with `values`, as JSON (watch.h).
nlohmann::json WatchOf(const AppliedGoal::Binding& binding, const TextValues& values);

// `text` with every "{name}" of `values` replaced.
std::string FillText(const std::string& text, const TextValues& values);
// `json` with FillText applied to every text in it.
nlohmann::json FillJson(const nlohmann::json& json, const TextValues& values);

// Fresh values that `taken` does not list, and under "other:<name>" a second draw that the goal
// does not ask for.
TextValues DrawValues(const std::map<std::string, std::string>& parameters,
                      const std::map<std::string, nlohmann::json>& taken, runtime::Random& random);
// One of the goal's phrasings, without `word_dropout` of its words, filled.
std::string DrawText(const AppliedGoal::Binding& binding, TextValues values, Split split,
                     double word_dropout, runtime::Random& random);
void DrawLeftovers(const AppliedGoal::Binding& binding, runtime::Random& random,
                   std::vector<StartOperation>& operations);
// The rest of an episode of a goal with situations, after `values` of its parameters.
absl::Status DrawSituation(const AppliedGoal::Binding& binding, const TextValues& values,
                           Split split, double word_dropout, runtime::Random& random,
                           Episode& episode);
// What the goal has beside targets: situations, readings, choices, milestones, plan. NOT_FOUND when
// the capture lacks something that is needed.
absl::Status BindSituations(const Goal::Definition& goal, const Places& places,
                            const Capture& capture, AppliedGoal::Binding& binding);

// nullopt when the capture lacks what the target needs.
std::optional<BoundTarget> BindTarget(const GoalTarget& target, const Places& places,
                                      const Capture& capture);

// The landmark's or place's URI; empty when the service has none.
const std::string& UriOf(const Places& places, const std::string& resource);

}  // namespace shoal::redfish
