// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/given_values.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "redfish/goals/goal_definition.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// Returns whether a given value is this one. People may write a number or a boolean as a text.
bool IsGiven(const Json& given, const Json& value) {
  return given == value || (given.is_string() && !value.is_string() && given == value.dump());
}

// Adds the one group of `choices` that agrees with `given`.
absl::Status AddChoice(const std::vector<std::map<std::string, Json>>& choices, const Values& given,
                       Values& values) {
  if (choices.empty()) return absl::OkStatus();
  const std::map<std::string, Json>* chosen = nullptr;
  bool is_open = false;
  std::string all;
  for (const auto& choice : choices) {
    all += (all.empty() ? "" : ", ") + Json(choice).dump();
    const bool agrees = std::all_of(choice.begin(), choice.end(), [&](const auto& value) {
      const auto found = given.find(value.first);
      return found == given.end() || IsGiven(found->second, value.second);
    });
    is_open = is_open || (agrees && chosen != nullptr);
    if (agrees && chosen == nullptr) chosen = &choice;
  }
  if (chosen == nullptr) return runtime::InvalidArgument("no choice has these values, only " + all);
  if (is_open) return runtime::InvalidArgument("the values leave the choice open among " + all);
  values.insert(chosen->begin(), chosen->end());
  return absl::OkStatus();
}

absl::Status AddOrders(const std::map<std::string, Json>& orders, const Values& given,
                       Values& values) {
  for (const auto& [name, captured] : orders) {
    const auto found = given.find(name);
    if (found == given.end()) continue;
    if (!found->second.is_array() || found->second.empty()) {
      return runtime::InvalidArgument(name + " needs a list");
    }
    values[name] = found->second;
    values[name + ":first"] = found->second.front();
    values[name + ":captured"] = captured;
  }
  return absl::OkStatus();
}

// Adds values of parameters, whose names are those of `parameters` with and without "other:".
absl::Status AddParameters(const std::map<std::string, std::string>& parameters,
                           const Values& given, Values& values) {
  for (const auto& [parameter, generator] : parameters) {
    for (const std::string& name : {parameter, "other:" + parameter}) {
      const auto found = given.find(name);
      if (found == given.end()) continue;
      if (!found->second.is_string()) return runtime::InvalidArgument(name + " needs a text");
      values[name] = found->second;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddOrders(const AppliedGoal::Binding& binding, Values& values) {
  for (const auto& [name, captured] : binding.orders) {
    const auto first = values.find(name + ":first");
    if (first == values.end()) continue;
    const auto at = std::find(captured.begin(), captured.end(), first->second);
    if (at == captured.end()) {
      return runtime::InvalidArgument(binding.capture_name + " has no " + first->second.dump() +
                                      " in " + name);
    }
    Json order = captured;
    std::rotate(order.begin(), order.begin() + (at - captured.begin()),
                order.begin() + (at - captured.begin()) + 1);
    values.insert_or_assign(name, std::move(order));
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> ValuesFrom(const AppliedGoal::Binding& binding, Values given) {
  const Goal::Definition& goal = binding.goal->definition();
  SHOAL_RETURN_IF_ERROR(AddOrders(binding, given));
  for (const auto& [name, captured] : binding.orders) given.erase(name + ":first");
  Values values = binding.readings;
  values.insert(binding.names.begin(), binding.names.end());
  SHOAL_RETURN_IF_ERROR(
      runtime::Annotate(AddChoice(binding.choices, given, values), "goal " + goal.name));
  SHOAL_RETURN_IF_ERROR(AddOrders(binding.orders, given, values));
  SHOAL_RETURN_IF_ERROR(AddParameters(goal.parameters, given, values));
  for (const auto& [name, slot] : goal.slots) {
    const auto found = given.find(name);
    values[name] = found == given.end() ? FillValues(slot, values) : found->second;
  }
  for (const auto& [name, value] : given) {
    const auto known = values.find(name);
    if (known != values.end() && IsGiven(value, known->second)) continue;
    return runtime::InvalidArgument("goal " + goal.name + " has no value " + name + " to set");
  }
  return values;
}

}  // namespace shoal::redfish
