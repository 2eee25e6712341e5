// SPDX-License-Identifier: Apache-2.0
// Starts of a goal that are more than properties of landmarks: one of several situations, each made
// by operations, with the least number of mutations from it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "redfish/goals/start_operation.h"

namespace shoal::redfish {

class GoalReader;

struct Situation {
  std::string name;
  // Among all situations; what the capture does not allow falls to the others that are satisfied,
  // or are not, as well.
  double weight = 1.0;
  std::int64_t optimum = 0;
  // A condition on the capture; null: always.
  nlohmann::json where;
  // Objects as in start_operation.h; "if" and "unless" name a place that must, or must not, be.
  std::vector<nlohmann::json> start;
  // Of a goal with parts: the situation of each, by the part's name, whose start comes first.
  std::map<std::string, std::string> of;
};

// Values that go together, where the capture fits; an episode draws one.
struct ValueGroup {
  nlohmann::json where;
  std::map<std::string, nlohmann::json> values;
  bool operator==(const ValueGroup&) const = default;
};

// A text, or for an order an array, that is read in the capture.
struct Reading {
  std::string name;
  // A place.
  std::string from;
  std::string pointer;
  // Of a BIOS instead: what a reset to defaults makes of its attributes.
  bool defaults = false;
  bool operator==(const Reading&) const = default;
};

// What fills "{name}": a text inside a text; a whole text "{name}" becomes the value as it is.
using Values = std::map<std::string, nlohmann::json, std::less<>>;

// Keys too. What has no value stays.
nlohmann::json FillValues(const nlohmann::json& json, const Values& values);

// `order` with another element first, and the others as they were. REQUIRES: two elements.
nlohmann::json DrawOrder(const nlohmann::json& order, runtime::Random& random);

Situation ReadSituation(GoalReader& reader);

}  // namespace shoal::redfish
