// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_parts.h"

#include <algorithm>
#include <string>
#include <utility>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

absl::Status Clash(const std::string& name) {
  return runtime::InvalidArgument("\"" + name + "\" is something else in another part");
}

// Of what has a name.
template <typename T>
absl::Status AddNamed(const std::vector<T>& from, std::vector<T>& into) {
  for (const T& one : from) {
    const auto known =
        std::find_if(into.begin(), into.end(), [&](const T& it) { return it.name == one.name; });
    if (known == into.end()) {
      into.push_back(one);
    } else if (!(*known == one)) {
      return Clash(one.name);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status AddNamed(const std::map<std::string, T>& from, std::map<std::string, T>& into) {
  for (const auto& [name, value] : from) {
    if (into.try_emplace(name, value).first->second != value) return Clash(name);
  }
  return absl::OkStatus();
}

template <typename T>
void AddMissing(const std::vector<T>& from, std::vector<T>& into) {
  for (const T& one : from) {
    if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
  }
}

}  // namespace

absl::Status AddPart(const Goal::Definition& part, Goal::Definition& whole) {
  if (!part.targets.empty() || !part.orders.empty()) {
    return runtime::InvalidArgument("parts have situations and no orders");
  }
  if (!part.choices.empty() && !whole.choices.empty() && part.choices != whole.choices) {
    return runtime::InvalidArgument("choices of more than one part");
  }
  SHOAL_RETURN_IF_ERROR(AddNamed(part.places, whole.places));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.parameters, whole.parameters));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.taken, whole.taken));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.slots, whole.slots));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.readings, whole.readings));
  AddMissing(part.choices, whole.choices);
  AddMissing(part.milestones, whole.milestones);
  AddMissing(part.require, whole.require);
  AddMissing(part.start, whole.start);
  AddMissing(part.allowed, whole.allowed);
  return absl::OkStatus();
}

absl::Status AddStarts(const std::vector<GoalPart>& parts, Situation& situation) {
  if (situation.of.size() != parts.size()) {
    return runtime::InvalidArgument("\"of\" names a situation of each part");
  }
  std::vector<Json> start;
  Json where = Json::array();
  for (const GoalPart& part : parts) {
    const auto name = situation.of.find(part->name);
    if (name == situation.of.end()) {
      return runtime::InvalidArgument("\"of\" lacks a situation of \"" + part->name + "\"");
    }
    const auto found = std::find_if(part->situations.begin(), part->situations.end(),
                                    [&](const Situation& one) { return one.name == name->second; });
    if (found == part->situations.end()) {
      return runtime::InvalidArgument("\"" + part->name + "\" has no situation \"" + name->second +
                                      "\"");
    }
    start.insert(start.end(), found->start.begin(), found->start.end());
    if (!found->where.is_null()) where.push_back(found->where);
  }
  start.insert(start.end(), situation.start.begin(), situation.start.end());
  situation.start = std::move(start);
  if (!situation.where.is_null()) where.push_back(std::move(situation.where));
  situation.where = where.empty() ? Json() : Json{{"all", std::move(where)}};
  return absl::OkStatus();
}

}  // namespace shoal::redfish
