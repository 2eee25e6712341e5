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

bool IsAnnotation(std::string_view name) { return name.find('@') != std::string_view::npos; }

void Compare(const Json::object_t& before, const Json::object_t& after, std::string& pointer,
             std::vector<std::string>& changed);

// `pointer` is that of the object with the member, and is so again at the end.
void CompareMember(std::string_view name, const Json* before, const Json* after,
                   std::string& pointer, std::vector<std::string>& changed) {
  if (IsAnnotation(name)) return;
  const bool is_both = before != nullptr && after != nullptr;
  if (is_both && before->is_object() && after->is_object()) {
    const std::size_t length = pointer.size();
    pointer += AppendPointer("", name);
    Compare(before->get_ref<const Json::object_t&>(), after->get_ref<const Json::object_t&>(),
            pointer, changed);
    pointer.resize(length);
  } else if (before != after && (!is_both || *before != *after)) {
    changed.push_back(AppendPointer(pointer, name));
  }
}

// Walks two objects at once, whose members are in the same order.
void Compare(const Json::object_t& before, const Json::object_t& after, std::string& pointer,
             std::vector<std::string>& changed) {
  auto old = before.begin();
  auto now = after.begin();
  const auto is_next = [](auto& one, auto one_end, auto& other, auto other_end) {
    return other == other_end || (one != one_end && one->first < other->first);
  };
  while (old != before.end() || now != after.end()) {
    const bool is_lost = is_next(old, before.end(), now, after.end());
    const bool is_added = !is_lost && is_next(now, after.end(), old, before.end());
    CompareMember(is_added ? now->first : old->first, is_added ? nullptr : &old->second,
                  is_lost ? nullptr : &now->second, pointer, changed);
    if (!is_added) ++old;
    if (!is_lost) ++now;
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

// Those of `pointers` that are side effects in a resource of `type`.
std::vector<std::string> Counted(const Schema& schema, const Watch& watch, std::string_view uri,
                                 const std::string& type, std::vector<std::string> pointers) {
  if (type.empty()) return {};
  std::erase_if(pointers, [&](const std::string& pointer) {
    const bool counts = pointer == "/PowerState" || schema.IsWritable(type, pointer);
    return !counts || watch.Allows(uri, pointer);
  });
  return pointers;
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
  std::string pointer;
  if (before.is_object() && after.is_object()) {
    Compare(before.get_ref<const Json::object_t&>(), after.get_ref<const Json::object_t&>(),
            pointer, changed);
  } else if (before != after) {
    changed.push_back(pointer);
  }
  return changed;
}

std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const Json& before, const Json& after) {
  return Counted(schema, watch, uri, TextAt(after, "@odata.type"), ChangedLeaves(before, after));
}

std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const std::string& type,
                                     std::span<const MemberChange> changes) {
  std::vector<std::string> changed;
  std::string pointer;
  for (const MemberChange& change : changes) {
    CompareMember(change.name, change.before, change.after, pointer, changed);
  }
  return Counted(schema, watch, uri, type, std::move(changed));
}

}  // namespace shoal::redfish
