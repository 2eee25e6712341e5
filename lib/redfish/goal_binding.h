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

#include "redfish/goal.h"
#include "redfish/goal_definition.h"
#include "redfish/landmarks.h"

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
  // Names of resources that phrasings may use: {system}, {chassis}.
  std::map<std::string, std::string> names;
};

// Values by name, for "{name}" in texts.
using TextValues = std::map<std::string, std::string>;

// `text` with every "{name}" of `values` replaced.
std::string FillText(const std::string& text, const TextValues& values);
// `json` with FillText applied to every text in it.
nlohmann::json FillJson(const nlohmann::json& json, const TextValues& values);

// nullopt when the capture lacks what the target needs.
std::optional<BoundTarget> BindTarget(const GoalTarget& target, const Landmarks& landmarks,
                                      const Capture& capture);

// The landmark's URI; empty when the service has none.
const std::string& UriOf(const Landmarks& landmarks, const std::string& resource);

}  // namespace shoal::redfish
