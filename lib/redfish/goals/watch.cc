// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/watch.h"

#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// The suffix behind a collection's URI.
constexpr std::string_view kAnyMember = "/*";
// The bit of all requirements from this one on.
constexpr std::size_t kLastBit = 63;

bool Covers(const std::string& allowed, std::string_view pointer) {
  return pointer.starts_with(allowed) &&
         (pointer.size() == allowed.size() || pointer[allowed.size()] == '/');
}

bool IsAnnotation(std::string_view name) { return name.find('@') != std::string_view::npos; }

void Compare(const Json::object_t& before, const Json::object_t& after, std::string& pointer,
             std::vector<std::string>& changed);

// `pointer` is that of the object with the member; it is the same again at the end.
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

// Walks two objects at once; their members are in the same order.
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

// Returns those of `pointers` that are side effects in a resource of `type`.
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

void to_json(Json& json, const PropertyPath& path) {
  json = {{"uri", path.uri}, {"pointer", path.pointer}};
}

absl::Status Watch::ParseAllowed(const Json& list, Parts& parts) {
  if (!list.is_array()) return runtime::InvalidArgument("watch: \"allowed\" needs an array");
  for (const Json& item : list) {
    const bool complete = item.is_object() && item.contains("uri") && item.contains("pointer") &&
                          item.at("uri").is_string() && item.at("pointer").is_string();
    if (!complete) {
      return runtime::InvalidArgument("watch: \"allowed\" needs {\"uri\", \"pointer\"} texts");
    }
    std::string uri = CanonicalUri(item.at("uri").get_ref<const std::string&>());
    const bool is_of_members = uri.ends_with(kAnyMember);
    if (is_of_members) uri.resize(uri.size() - kAnyMember.size());
    Pointers& pointers = is_of_members ? parts.allowed_of_members : parts.allowed;
    pointers[std::move(uri)].insert(item.at("pointer").get<std::string>());
  }
  return absl::OkStatus();
}

absl::StatusOr<Watch> Watch::Parse(Json json) {
  if (!json.is_object() || !json.contains("predicate")) {
    return runtime::InvalidArgument("watch: an object with \"predicate\" expected");
  }
  for (const auto& [name, value] : json.items()) {
    if (name != "predicate" && name != "milestones" && name != "allowed") {
      return runtime::InvalidArgument("watch has no \"" + name + "\"");
    }
  }
  SHOAL_ASSIGN_OR_RETURN(Predicate predicate, Predicate::Parse(std::move(json.at("predicate"))));
  Parts parts{.predicate = predicate, .requirements = predicate.Requirements()};
  if (const auto milestones = json.find("milestones"); milestones != json.end()) {
    if (!milestones->is_array() || milestones->size() > kMaximumMilestones) {
      return runtime::InvalidArgument("watch: \"milestones\" needs an array of at most 64");
    }
    for (Json& milestone : *milestones) {
      SHOAL_ASSIGN_OR_RETURN(Predicate one, Predicate::Parse(std::move(milestone)));
      parts.milestones.push_back(std::move(one));
    }
  }
  if (const auto allowed = json.find("allowed"); allowed != json.end()) {
    SHOAL_RETURN_IF_ERROR(ParseAllowed(*allowed, parts));
  }
  return Watch(std::move(parts));
}

Json Watch::ToJson() const {
  Json milestones = Json::array();
  for (const Predicate& milestone : parts_->milestones) milestones.push_back(milestone.json());
  return {{"predicate", parts_->predicate.json()},
          {"milestones", std::move(milestones)},
          {"allowed", allowed()}};
}

void Watch::Update(const StateView& state, Progress& progress) const {
  progress.open = 0;
  for (std::size_t i = 0; i < parts_->requirements.size(); ++i) {
    if (parts_->requirements[i].Evaluate(state)) continue;
    progress.open |= std::uint64_t{1} << std::min(i, kLastBit);
  }
  progress.satisfied = progress.open == 0;
  for (std::size_t i = 0; i < parts_->milestones.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((progress.milestones & bit) == 0 && parts_->milestones[i].Evaluate(state)) {
      progress.milestones |= bit;
    }
  }
}

std::vector<std::string> Watch::OpenRequirements(const Progress& progress) const {
  std::set<std::string> names;
  const auto& all = parts_->requirements;
  for (std::size_t i = 0; i < std::min(all.size(), kLastBit + 1); ++i) {
    if ((progress.open >> i & 1) == 0) continue;
    const bool is_alone = i < kLastBit || all.size() == kLastBit + 1;
    names.insert(is_alone ? all[i].Summary()
                          : "one of " + std::to_string(all.size() - i) + " more");
  }
  return {names.begin(), names.end()};
}

bool Watch::Allows(std::string_view uri, std::string_view pointer) const {
  const auto lists = [pointer](const Pointers& listed, std::string_view key) {
    const auto found = listed.find(key);
    return found != listed.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const std::string& allowed) { return Covers(allowed, pointer); });
  };
  if (lists(parts_->allowed, uri)) return true;
  const std::size_t slash = uri.rfind('/');
  return slash != std::string_view::npos && lists(parts_->allowed_of_members, uri.substr(0, slash));
}

std::vector<PropertyPath> Watch::allowed() const {
  std::vector<PropertyPath> paths;
  const auto list = [&paths](const Pointers& listed, std::string_view suffix) {
    for (const auto& [uri, pointers] : listed) {
      for (const std::string& pointer : pointers) {
        paths.push_back({uri + std::string(suffix), pointer});
      }
    }
  };
  list(parts_->allowed, "");
  list(parts_->allowed_of_members, kAnyMember);
  return paths;
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
