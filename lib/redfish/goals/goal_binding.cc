// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_binding.h"

#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// "/Boot/BootSourceOverrideTarget" to its list of allowable values; nullptr when there is none.
const Json* AllowableOf(const Json& resource, const std::string& pointer) {
  const Json* list = Resolve(resource, pointer + std::string(kAllowableValues));
  return list != nullptr && list->is_array() ? list : nullptr;
}

bool IsListed(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// False when the resource lacks the property or allows none of the wanted values.
bool Restrict(const Json& resource, TargetProperty& property) {
  if (Resolve(resource, property.pointer) == nullptr) return false;
  const Json* allowable = AllowableOf(resource, property.pointer);
  if (allowable == nullptr) return true;
  const auto forbidden = [&](const Json& value) { return !IsListed(*allowable, value); };
  std::erase_if(property.wanted, forbidden);
  std::erase_if(property.start, forbidden);
  return !property.wanted.empty() && !property.start.empty();
}

std::vector<Json> ResetTypes(const Capture& capture, const Json& system) {
  const Json* action = Resolve(system, "/Actions/#ComputerSystem.Reset");
  if (action == nullptr) return {};
  const Json* values = AllowableValues(*action, "ResetType",
                                       [&](const std::string& uri) { return capture.Find(uri); });
  return values == nullptr ? std::vector<Json>() : values->get<std::vector<Json>>();
}

absl::Status NeedsReset(const Goal::Definition& goal, const Places& places,
                        const Capture& capture) {
  if (goal.reset_types.empty()) return absl::OkStatus();
  const Json* system = capture.Find(UriOf(places, "system"));
  const std::vector<Json> offered =
      system == nullptr ? std::vector<Json>() : ResetTypes(capture, *system);
  for (const std::string& type : goal.reset_types) {
    if (std::find(offered.begin(), offered.end(), type) != offered.end()) return absl::OkStatus();
  }
  return runtime::NotFound("goal " + goal.name + ": " + capture.name() + " has no fitting reset");
}

std::set<PropertyPath> PathsOf(const BoundTarget& bound) {
  std::set<PropertyPath> paths;
  for (const TargetProperty& property : bound.target.properties) {
    paths.insert({bound.uri, property.pointer});
    for (const std::string& uri : bound.along) paths.insert({uri, property.pointer});
  }
  return paths;
}

absl::Status BindProperties(const Goal::Definition& goal, const Places& places,
                            const Capture& capture, AppliedGoal::Binding& binding) {
  const auto present = [&](const LandmarkProperty& place) {
    const Json* body = capture.Find(UriOf(places, place.resource));
    return body != nullptr && Resolve(*body, place.pointer) != nullptr;
  };
  for (const LandmarkProperty& place : goal.start) {
    if (!present(place)) continue;
    binding.start.push_back({UriOf(places, place.resource), place.pointer, place.value});
    binding.allowed.insert({binding.start.back().uri, place.pointer});
  }
  for (const LandmarkProperty& place : goal.allowed) {
    if (!place.where.is_null()) {
      SHOAL_ASSIGN_OR_RETURN(const Json where, PutPlaces(place.where, places, capture));
      SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> members,
                             MembersWhere(capture, UriOf(places, place.resource), where));
      for (std::string& uri : members) {
        binding.allowed.insert({std::move(uri), place.pointer});
      }
      continue;
    }
    const bool is_open = place.members || place.pointer.find('{') != std::string::npos;
    if (present(place) || (is_open && !UriOf(places, place.resource).empty())) {
      binding.allowed.insert(
          {UriOf(places, place.resource) + (place.members ? "/*" : ""), place.pointer});
    }
  }
  return absl::OkStatus();
}

void BindLeftovers(const GoalSuite& others, const Places& places, const Capture& capture,
                   AppliedGoal::Binding& binding) {
  const Goal::Definition& own = binding.goal->definition();
  std::set<PropertyPath> taken = binding.allowed;
  for (const std::shared_ptr<const Goal>& other : others) {
    const auto& barred = own.no_leftovers_of;
    const bool excluded = std::find(barred.begin(), barred.end(), other->name()) != barred.end();
    if (other->id() == own.id || excluded) continue;
    for (const GoalTarget& target : other->definition().targets) {
      std::optional<BoundTarget> bound = BindTarget(target, places, capture);
      if (!bound) continue;
      const std::set<PropertyPath> paths = PathsOf(*bound);
      const bool free = std::none_of(paths.begin(), paths.end(), [&](const PropertyPath& path) {
        return taken.contains(path);
      });
      if (!free) continue;
      taken.insert(paths.begin(), paths.end());
      binding.leftovers.push_back({std::move(*bound), other->definition().parameters});
    }
  }
}

void BindNames(const Places& places, const Capture& capture, AppliedGoal::Binding& binding) {
  for (const std::string resource : {"system", "chassis", "manager"}) {
    const Json* body = capture.Find(UriOf(places, resource));
    const Json* name = body == nullptr ? nullptr : Resolve(*body, "/Name");
    binding.names[resource] = name != nullptr && name->is_string() ? name->get<std::string>() : "";
  }
}

}  // namespace

const std::string& UriOf(const Places& places, const std::string& resource) {
  static const std::string kNone;
  const auto found = places.find(resource);
  return found == places.end() ? kNone : found->second;
}

std::optional<BoundTarget> BindTarget(const GoalTarget& target, const Places& places,
                                      const Capture& capture) {
  BoundTarget bound{target, UriOf(places, target.resource), {}};
  const Json* resource = capture.Find(bound.uri);
  if (resource == nullptr) return std::nullopt;
  std::erase_if(bound.target.properties,
                [&](TargetProperty& property) { return !Restrict(*resource, property); });
  const std::size_t wanted = target.any ? 1 : target.properties.size();
  if (bound.target.properties.size() < wanted) return std::nullopt;
  for (const std::string& name : target.along) {
    const Json* body = capture.Find(UriOf(places, name));
    if (body != nullptr && Resolve(*body, target.properties.front().pointer) != nullptr) {
      bound.along.push_back(UriOf(places, name));
    }
  }
  return bound;
}

AppliedGoal::AppliedGoal(std::unique_ptr<const Binding> binding) : binding_(std::move(binding)) {}
AppliedGoal::~AppliedGoal() = default;

const Goal& AppliedGoal::goal() const { return *binding_->goal; }
const std::string& AppliedGoal::capture_name() const { return binding_->capture_name; }

absl::StatusOr<std::shared_ptr<const AppliedGoal>> AppliedGoal::Create(
    std::shared_ptr<const Goal> goal, const Capture& capture, const GoalSuite& others) {
  const Goal::Definition& definition = goal->definition();
  const absl::StatusOr<Places> found =
      FindPlaces(definition.places, FindLandmarks(capture), capture);
  if (!found.ok()) return runtime::Annotate(found.status(), "goal " + definition.name);
  const Places& places = *found;
  SHOAL_RETURN_IF_ERROR(NeedsReset(definition, places, capture));
  auto binding = std::make_unique<Binding>();
  binding->goal = std::move(goal);
  binding->capture_name = capture.name();
  for (const GoalTarget& target : definition.targets) {
    std::optional<BoundTarget> bound = BindTarget(target, places, capture);
    if (!bound) continue;
    binding->allowed.merge(PathsOf(*bound));
    binding->targets.push_back(std::move(*bound));
  }
  if (binding->targets.empty() && definition.situations.empty()) {
    return runtime::NotFound("goal " + definition.name + ": " + capture.name() +
                             " has none of its resources and properties");
  }
  for (const Json& condition : definition.require) {
    SHOAL_ASSIGN_OR_RETURN(Json placed, PutPlaces(condition, places, capture));
    const absl::Status status = Predicate::Parse(placed).status();
    if (!status.ok()) return runtime::Annotate(status, "goal " + definition.name + " require");
    binding->require.push_back(std::move(placed));
  }
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(BindProperties(definition, places, capture, *binding),
                                          "goal " + definition.name));
  BindLeftovers(others, places, capture, *binding);
  BindNames(places, capture, *binding);
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(BindSituations(definition, places, capture, *binding),
                                          "goal " + definition.name));
  if (definition.situations.empty() && definition.parameters.empty()) {
    auto watch = Watch::Parse(WatchOf(*binding, {}));
    if (!watch.ok()) return runtime::Annotate(watch.status(), "goal " + definition.name);
    binding->watch = *std::move(watch);
  }
  return std::shared_ptr<const AppliedGoal>(new AppliedGoal(std::move(binding)));
}

}  // namespace shoal::redfish
