// SPDX-License-Identifier: Apache-2.0
// Situations are starts of a goal that need more than properties of landmarks. Each is made by
// operations, and states the least number of mutations from it to the goal.
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

// These texts refer to values by name: "PXE boot of {system}".

// Returns `text` with every "{name}" replaced by `find(std::string_view name)`, which returns an
// std::optional<std::string>. A name without a value stays as it is.
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

// One step from a captured service to the state in which an episode starts.
//
// As JSON, which the control API takes:
//   {"uri": U, "pointer": P, "value": V}        a property is set, past every rule of the service
//   {"uri": U, "method": "POST", "value": V}    a request with the body V, which must succeed; the
//                                               task that it starts is followed to its end
struct StartOperation {
  std::string uri;
  // Empty for a request.
  std::string pointer;
  nlohmann::json value;
  // "POST", "PATCH" or "DELETE"; empty means that the property is set.
  std::string method = "";
};

nlohmann::json ToJson(std::span<const StartOperation> start);
// Returns INVALID_ARGUMENT naming the wrong part.
absl::StatusOr<std::vector<StartOperation>> ParseStart(const nlohmann::json& list);

class GoalReader;

struct Situation {
  std::string name;
  // The weight among all situations. The weight of situations that the capture does not allow goes
  // to the others that are satisfied, or not satisfied, likewise.
  double weight = 1.0;
  std::int64_t optimum = 0;
  // A condition on the capture; null always holds.
  nlohmann::json where;
  // Objects as ParseStart takes them. "if" and "unless" name a place that must, or must not, exist.
  std::vector<nlohmann::json> start;
  // The name of the situation that differs in the decisive value alone: which member holds it.
  // Empty for none.
  std::string exchanged;
  // For a goal with parts: a situation of each part, by the part's name, whose start comes first.
  std::map<std::string, std::string> of;
};

// Values that belong together, for captures that fulfil `where`. An episode draws one group.
struct ValueGroup {
  nlohmann::json where;
  std::map<std::string, nlohmann::json> values;
  bool operator==(const ValueGroup&) const = default;
};

// A value that is read in the capture; for an order it is an array.
struct Reading {
  std::string name;
  // The name of a place.
  std::string from;
  std::string pointer;
  // For a BIOS: reads its attributes as a reset to defaults would make them, in place of `pointer`.
  bool defaults = false;
  bool operator==(const Reading&) const = default;
};

// The values for "{name}". Inside a text the value is inserted; a text that is only "{name}"
// becomes the value itself.
using Values = std::map<std::string, nlohmann::json, std::less<>>;

// Fills in `values`, also in keys. Names without a value stay.
nlohmann::json FillValues(const nlohmann::json& json, const Values& values);

// Returns `order` with another element moved to the front. REQUIRES: at least two elements.
nlohmann::json DrawOrder(const nlohmann::json& order, runtime::Random& random);

Situation ReadSituation(GoalReader& reader);

}  // namespace shoal::redfish
