// SPDX-License-Identifier: Apache-2.0
// Starts of a goal that are more than properties of landmarks: one of several situations, each made
// by operations, with the least number of mutations from it.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"

namespace shoal::redfish {

// Texts that speak of values by name: "PXE boot of {system}".

// `text` with every "{name}" replaced by what `find(std::string_view name)` says, an
// std::optional<std::string>; one that it knows nothing of stays as it is.
template <typename Find>
std::string FillNames(std::string_view text, const Find& find) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? open : text.find('}', open);
    if (close == text.npos) break;
    const std::optional<std::string> value = find(text.substr(open + 1, close - open - 1));
    filled += text.substr(0, open);
    filled += value ? std::string_view(*value) : text.substr(open, close - open + 1);
    text.remove_prefix(close + 1);
  }
  filled += text;
  return filled;
}

// One step from a captured service to the state that an episode starts in.
//
// As JSON, which the control API takes:
//   {"uri": U, "pointer": P, "value": V}        a property is set, past every rule of the service
//   {"uri": U, "method": "POST", "value": V}    a request with the body V, which must succeed and
//                                               is followed to the end of what it started
struct StartOperation {
  std::string uri;
  // Empty for a request.
  std::string pointer;
  nlohmann::json value;
  // "POST", "PATCH" or "DELETE"; empty: the property is set.
  std::string method = "";
};

nlohmann::json ToJson(std::span<const StartOperation> start);
// INVALID_ARGUMENT naming what is wrong.
absl::StatusOr<std::vector<StartOperation>> ParseStart(const nlohmann::json& list);

class GoalReader;

struct Situation {
  std::string name;
  // Among all situations; what the capture does not allow falls to the others that are satisfied,
  // or are not, as well.
  double weight = 1.0;
  std::int64_t optimum = 0;
  // A condition on the capture; null: always.
  nlohmann::json where;
  // Objects as ParseStart takes them; "if" and "unless" name a place that must, or must not, be.
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
