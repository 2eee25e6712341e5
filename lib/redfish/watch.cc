// SPDX-License-Identifier: Apache-2.0
#include "redfish/watch.h"

#include <utility>

#include "redfish/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

bool Covers(const std::string& allowed, std::string_view pointer) {
  return pointer.starts_with(allowed) &&
         (pointer.size() == allowed.size() || pointer[allowed.size()] == '/');
}

void Compare(const Json& before, const Json& after, const std::string& pointer,
             std::vector<std::string>& changed) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    changed.push_back(pointer);
    return;
  }
  for (const auto& [name, value] : before.items()) {
    if (name.find('@') != std::string::npos) continue;
    const auto other = after.find(name);
    if (other == after.end()) {
      changed.push_back(AppendPointer(pointer, name));
    } else {
      Compare(value, *other, AppendPointer(pointer, name), changed);
    }
  }
  for (const auto& [name, value] : after.items()) {
    if (name.find('@') != std::string::npos || before.contains(name)) continue;
    changed.push_back(AppendPointer(pointer, name));
  }
}

absl::StatusOr<std::set<PropertyPath>> ParseAllowed(const Json& list) {
  if (!list.is_array()) return runtime::InvalidArgument("watch: \"allowed\" needs an array");
  std::set<PropertyPath> allowed;
  for (const Json& item : list) {
    const bool complete = item.is_object() && item.contains("uri") && item.contains("pointer") &&
                          item.at("uri").is_string() && item.at("pointer").is_string();
    if (!complete) {
      return runtime::InvalidArgument("watch: \"allowed\" needs {\"uri\", \"pointer\"} texts");
    }
    allowed.insert({CanonicalUri(item.at("uri").get_ref<const std::string&>()),
                    item.at("pointer").get<std::string>()});
  }
  return allowed;
}

}  // namespace

Watch::Watch(Predicate predicate, std::vector<Predicate> milestones, std::set<PropertyPath> allowed)
    : predicate_(std::move(predicate)),
      milestones_(std::move(milestones)),
      allowed_(std::move(allowed)) {}

absl::StatusOr<Watch> Watch::Parse(const Json& json) {
  if (!json.is_object() || !json.contains("predicate")) {
    return runtime::InvalidArgument("watch: an object with \"predicate\" expected");
  }
  for (const auto& [name, value] : json.items()) {
    if (name != "predicate" && name != "milestones" && name != "allowed") {
      return runtime::InvalidArgument("watch has no \"" + name + "\"");
    }
  }
  SHOAL_ASSIGN_OR_RETURN(Predicate predicate, Predicate::Parse(json.at("predicate")));
  const Json milestones = json.value("milestones", Json::array());
  if (!milestones.is_array() || milestones.size() > kMaximumMilestones) {
    return runtime::InvalidArgument("watch: \"milestones\" needs an array of at most 64");
  }
  std::vector<Predicate> parsed;
  for (const Json& milestone : milestones) {
    SHOAL_ASSIGN_OR_RETURN(Predicate one, Predicate::Parse(milestone));
    parsed.push_back(std::move(one));
  }
  SHOAL_ASSIGN_OR_RETURN(std::set<PropertyPath> allowed,
                         ParseAllowed(json.value("allowed", Json::array())));
  return Watch(std::move(predicate), std::move(parsed), std::move(allowed));
}

Json Watch::ToJson() const {
  Json milestones = Json::array();
  for (const Predicate& milestone : milestones_) milestones.push_back(milestone.json());
  Json allowed = Json::array();
  for (const PropertyPath& path : allowed_) {
    allowed.push_back({{"uri", path.uri}, {"pointer", path.pointer}});
  }
  return {{"predicate", predicate_.json()},
          {"milestones", std::move(milestones)},
          {"allowed", std::move(allowed)}};
}

void Watch::Update(const StateView& state, WatchState& progress) const {
  progress.satisfied = predicate_.Evaluate(state);
  for (std::size_t i = 0; i < milestones_.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((progress.milestones & bit) == 0 && milestones_[i].Evaluate(state)) {
      progress.milestones |= bit;
    }
  }
}

bool Watch::Allows(std::string_view uri, std::string_view pointer) const {
  const auto lists = [&](const std::string& listed) {
    for (auto it = allowed_.lower_bound({listed, std::string()});
         it != allowed_.end() && it->uri == listed; ++it) {
      if (Covers(it->pointer, pointer)) return true;
    }
    return false;
  };
  if (lists(std::string(uri))) return true;
  const std::size_t slash = uri.rfind('/');
  return slash != std::string_view::npos && lists(std::string(uri.substr(0, slash)) + "/*");
}

std::vector<std::string> ChangedLeaves(const Json& before, const Json& after) {
  std::vector<std::string> changed;
  Compare(before, after, std::string(), changed);
  return changed;
}

std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const Json& before, const Json& after) {
  const auto type = after.find("@odata.type");
  if (type == after.end() || !type->is_string()) return {};
  std::vector<std::string> effects;
  for (std::string& pointer : ChangedLeaves(before, after)) {
    const bool counts =
        pointer == "/PowerState" || schema.IsWritable(type->get_ref<const std::string&>(), pointer);
    if (counts && !watch.Allows(uri, pointer)) effects.push_back(std::move(pointer));
  }
  return effects;
}

}  // namespace shoal::redfish
