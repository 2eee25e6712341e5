// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_binding.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/goals/given_values.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/situation.h"
#include "redfish/schema/allowable_values.h"
#include "redfish/schema/attribute_registry.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// Returns the allowable values of a property such as "/Boot/BootSourceOverrideTarget"; nullptr when
// none are listed.
const Json* AllowableOf(const Json& resource, const std::string& pointer) {
  const Json* list = Resolve(resource, pointer + std::string(kAllowableValues));
  return list != nullptr && list->is_array() ? list : nullptr;
}

bool IsListed(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Returns the URI of a landmark or place; empty when the service has none.
const std::string& UriOf(const Places& places, const std::string& resource) {
  static const std::string kNone;
  const auto found = places.find(resource);
  return found == places.end() ? kNone : found->second;
}

// Drops the values that the resource does not allow. Returns false when the resource lacks the
// property or allows none of the wanted values or, where starts are drawn, none of the start
// values.
bool Restrict(const Json& resource, Starts starts, TargetProperty& property) {
  if (Resolve(resource, property.pointer) == nullptr) return false;
  const Json* allowable = AllowableOf(resource, property.pointer);
  if (allowable == nullptr) return true;
  const auto forbidden = [&](const Json& value) { return !IsListed(*allowable, value); };
  std::erase_if(property.wanted, forbidden);
  std::erase_if(property.start, forbidden);
  return !property.wanted.empty() && (starts == Starts::kPresent || !property.start.empty());
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

// Returns nothing when the capture lacks what the target needs.
std::optional<BoundTarget> BindTarget(const GoalTarget& target, const Places& places,
                                      const Capture& capture, Starts starts) {
  BoundTarget bound{target, UriOf(places, target.resource), {}};
  const Json* resource = capture.Find(bound.uri);
  if (resource == nullptr) return std::nullopt;
  std::erase_if(bound.target.properties,
                [&](TargetProperty& property) { return !Restrict(*resource, starts, property); });
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

void BindLeftovers(const GoalSuite& others, const Places& places, const Capture& capture,
                   AppliedGoal::Binding& binding) {
  const Goal::Definition& own = binding.goal->definition();
  std::set<PropertyPath> taken = binding.allowed;
  for (const std::shared_ptr<const Goal>& other : others) {
    const auto& barred = own.no_leftovers_of;
    const bool excluded = std::find(barred.begin(), barred.end(), other->name()) != barred.end();
    if (other->id() == own.id || excluded) continue;
    for (const GoalTarget& target : other->definition().targets) {
      std::optional<BoundTarget> bound = BindTarget(target, places, capture, Starts::kDrawn);
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

// Returns whether the capture fulfils `where`; null always holds.
absl::StatusOr<bool> Fits(const Json& where, const Places& places, const Capture& capture) {
  if (where.is_null()) return true;
  SHOAL_ASSIGN_OR_RETURN(const Json placed, PutPlaces(where, places, capture));
  SHOAL_ASSIGN_OR_RETURN(const Predicate condition, Predicate::Parse(placed));
  return condition.Evaluate(CapturedState(capture));
}

absl::StatusOr<Situation> PutSituation(const Situation& situation, const Places& places,
                                       const Capture& capture) {
  Situation placed = situation;
  placed.start.clear();
  for (const Json& operation : situation.start) {
    const auto is_there = [&](const char* key) {
      return !UriOf(places, TextAt(operation, key)).empty();
    };
    const bool skip = (operation.contains("if") && !is_there("if")) ||
                      (operation.contains("unless") && is_there("unless"));
    if (skip) continue;
    Json plain = operation;
    plain.erase("if");
    plain.erase("unless");
    SHOAL_ASSIGN_OR_RETURN(plain, PutPlaces(plain, places, capture));
    placed.start.push_back(std::move(plain));
  }
  return placed;
}

absl::StatusOr<Json> ReadIn(const Reading& reading, const Places& places, const Capture& capture) {
  const Json* const body = capture.Find(UriOf(places, reading.from));
  const char* const pointer = reading.defaults ? "/Attributes" : reading.pointer.c_str();
  const Json* const value = body == nullptr ? nullptr : Resolve(*body, pointer);
  if (value != nullptr && reading.defaults && value->is_object()) {
    const auto registry = FindAttributeRegistry(capture, TextAt(*body, "AttributeRegistry"));
    return DefaultAttributes(*value, registry ? &*registry : nullptr);
  }
  if (value != nullptr) return *value;
  return runtime::NotFound(capture.name() + " has no " + reading.pointer + " of " + reading.from);
}

absl::Status BindChoices(const Goal::Definition& goal, const Places& places, const Capture& capture,
                         AppliedGoal::Binding& binding) {
  for (const ValueGroup& choice : goal.choices) {
    const Values values(choice.values.begin(), choice.values.end());
    SHOAL_ASSIGN_OR_RETURN(const bool fits,
                           Fits(FillValues(choice.where, values), places, capture));
    if (fits) binding.choices.push_back(choice.values);
  }
  if (!goal.choices.empty() && binding.choices.empty()) {
    return runtime::NotFound(capture.name() + " fits none of the choices");
  }
  return absl::OkStatus();
}

double TotalWeight(const std::vector<Situation>& situations, bool satisfied) {
  double total = 0.0;
  for (const Situation& one : situations) total += (one.optimum == 0) == satisfied ? one.weight : 0;
  return total;
}

// Scales the weights so that as many starts are satisfied as on a capture that allows all
// situations.
void MakeUpForAbsent(const std::vector<Situation>& all, std::vector<Situation>& allowed) {
  for (const bool satisfied : {false, true}) {
    const double left = TotalWeight(allowed, satisfied);
    if (left <= 0.0) continue;
    const double factor = TotalWeight(all, satisfied) / left;
    for (Situation& one : allowed) one.weight *= (one.optimum == 0) == satisfied ? factor : 1.0;
  }
}

// Binds the parts other than targets: situations, readings, choices, milestones and the plan.
absl::Status BindSituations(const Goal::Definition& goal, const Places& places,
                            const Capture& capture, AppliedGoal::Binding& binding) {
  for (const Situation& situation : goal.situations) {
    SHOAL_ASSIGN_OR_RETURN(const bool fits, Fits(situation.where, places, capture));
    if (!fits) continue;
    SHOAL_ASSIGN_OR_RETURN(Situation placed, PutSituation(situation, places, capture));
    binding.situations.push_back(std::move(placed));
  }
  if (!goal.situations.empty() && binding.situations.empty()) {
    return runtime::NotFound(capture.name() + " allows none of its situations");
  }
  MakeUpForAbsent(goal.situations, binding.situations);
  for (const auto& [name, values] : goal.taken) {
    SHOAL_ASSIGN_OR_RETURN(binding.taken[name], PutPlaces(values, places, capture));
  }
  for (const Reading& reading : goal.readings) {
    SHOAL_ASSIGN_OR_RETURN(binding.readings[reading.name], ReadIn(reading, places, capture));
  }
  for (const Reading& order : goal.orders) {
    SHOAL_ASSIGN_OR_RETURN(Json read, ReadIn(order, places, capture));
    if (!read.is_array() || read.size() < 2) {
      return runtime::NotFound(capture.name() + " has nothing to order at " + order.pointer);
    }
    binding.orders[order.name] = std::move(read);
  }
  SHOAL_RETURN_IF_ERROR(BindChoices(goal, places, capture, binding));
  for (const Json& milestone : goal.milestones) {
    SHOAL_ASSIGN_OR_RETURN(Json placed, PutPlaces(milestone, places, capture));
    binding.milestones.push_back(std::move(placed));
  }
  std::vector<std::string> kept;
  for (const Json& step : goal.plan) {
    SHOAL_ASSIGN_OR_RETURN(Json placed, PutPlaces(step, places, capture, kept));
    if (step.contains("keep")) kept.push_back(TextAt(step, "keep"));
    binding.plan.push_back(std::move(placed));
  }
  return CheckPlan(binding.plan);
}

// Returns the first "{name}" in the texts of `json`, or an empty text.
std::string NameLeftIn(const Json& json) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? open : text.find('}', open);
    return close == text.npos ? "" : text.substr(open + 1, close - open - 1);
  }
  if (!json.is_structured()) return "";
  for (const auto& item : json.items()) {
    std::string name = json.is_object() ? NameLeftIn(item.key()) : "";
    if (name.empty()) name = NameLeftIn(item.value());
    if (!name.empty()) return name;
  }
  return "";
}

Json Condition(const BoundTarget& bound, const TextValues& values) {
  Json parts = Json::array();
  for (const TargetProperty& property : bound.target.properties) {
    Json where = {{"uri", bound.uri}, {"pointer", property.pointer}};
    if (property.contains) {
      where["value"] = FillJson(property.wanted.front(), values);
      parts.push_back({{"contains", std::move(where)}});
    } else {
      where["values"] = FillJson(property.wanted, values);
      parts.push_back({{"in", std::move(where)}});
    }
  }
  return parts.size() == 1 ? parts[0] : Json{{bound.target.any ? "any" : "all", std::move(parts)}};
}

// Returns INVALID_ARGUMENT when a value of the goal still has to be filled in somewhere.
absl::Status CheckFilled(const Goal::Definition& goal, const AppliedGoal::Binding& binding,
                         const std::string& filled) {
  std::vector<std::string> names;
  for (const auto& [name, generator] : goal.parameters) {
    names.insert(names.end(), {name, "other:" + name});
  }
  for (const auto& [name, order] : binding.orders) names.push_back(name);
  for (const std::string& name : names) {
    if (filled.find("{" + name + "}") == std::string::npos) continue;
    return runtime::InvalidArgument("goal " + goal.name + " needs a value of " + name);
  }
  return absl::OkStatus();
}

}  // namespace

TextValues TextsOf(const Values& values) {
  TextValues texts;
  for (const auto& [name, value] : values) {
    if (value.is_object()) continue;
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

std::string FillText(const std::string& text, const TextValues& values) {
  return FillNames(text, [&values](std::string_view name) -> std::optional<std::string> {
    const auto value = values.find(std::string(name));
    return value == values.end() ? std::nullopt : std::optional(value->second);
  });
}

Json FillJson(const Json& json, const TextValues& values) {
  if (json.is_string()) return FillText(json.get_ref<const std::string&>(), values);
  if (!json.is_structured()) return json;
  Json filled = json;
  for (auto& item : filled) item = FillJson(item, values);
  return filled;
}

Json WatchOf(const AppliedGoal::Binding& binding, const TextValues& values) {
  Json conditions = Json::array();
  Json milestones = Json::array();
  bool only_milestones = false;
  for (const BoundTarget& bound : binding.targets) {
    Json condition = Condition(bound, values);
    milestones.push_back(condition);
    if (bound.target.in_predicate) {
      conditions.push_back(std::move(condition));
    } else {
      only_milestones = true;
    }
  }
  for (const Json& condition : binding.require) conditions.push_back(FillJson(condition, values));
  // A lone target is the goal itself, not a milestone.
  if (milestones.size() == 1 && !only_milestones) milestones.clear();
  return {{"predicate", {{"all", std::move(conditions)}}},
          {"milestones", std::move(milestones)},
          {"allowed", binding.allowed}};
}

Json SituationWatchOf(const AppliedGoal::Binding& binding, const Values& values) {
  return FillValues({{"predicate", {{"all", binding.require}}},
                     {"milestones", binding.milestones},
                     {"allowed", binding.allowed}},
                    values);
}

AppliedGoal::AppliedGoal(std::unique_ptr<const Binding> binding) : binding_(std::move(binding)) {}
AppliedGoal::~AppliedGoal() = default;

const Goal& AppliedGoal::goal() const { return *binding_->goal; }
const std::string& AppliedGoal::capture_name() const { return binding_->capture_name; }

absl::StatusOr<std::shared_ptr<const AppliedGoal>> AppliedGoal::Create(
    std::shared_ptr<const Goal> goal, const Capture& capture, const GoalSuite& others,
    Starts starts) {
  const Goal::Definition& definition = goal->definition();
  const absl::StatusOr<Places> found =
      FindPlaces(definition.places, FindLandmarks(capture), capture);
  if (!found.ok()) return runtime::Annotate(found.status(), "goal " + definition.name);
  const Places& places = *found;
  SHOAL_RETURN_IF_ERROR(NeedsReset(definition, places, capture));
  auto binding = std::make_unique<Binding>();
  binding->goal = std::move(goal);
  binding->capture_name = capture.name();
  binding->starts = starts;
  for (const GoalTarget& target : definition.targets) {
    std::optional<BoundTarget> bound = BindTarget(target, places, capture, starts);
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

absl::StatusOr<Predicate> AppliedGoal::RequirementWith(Values values,
                                                       const std::set<std::string>& targets) const {
  values.insert(binding_->readings.begin(), binding_->readings.end());
  SHOAL_RETURN_IF_ERROR(AddOrders(*binding_, values));
  for (const auto& [name, slot] : binding_->goal->definition().slots) {
    values.try_emplace(name, FillValues(slot, values));
  }
  Json conditions = Json::array();
  for (const BoundTarget& bound : binding_->targets) {
    const bool wanted = targets.empty() || targets.contains(bound.target.name);
    if (wanted && bound.target.in_predicate) conditions.push_back(Condition(bound, {}));
  }
  for (const Json& condition : binding_->require) conditions.push_back(condition);
  Json filled = FillValues(Json{{"all", std::move(conditions)}}, values);
  if (const std::string name = NameLeftIn(filled); !name.empty()) {
    return runtime::InvalidArgument("no value for " + name);
  }
  return Predicate::Parse(std::move(filled));
}

absl::StatusOr<Episode> AppliedGoal::EpisodeWith(const Values& wanted) const {
  const Goal::Definition& goal = binding_->goal->definition();
  Episode episode;
  SHOAL_ASSIGN_OR_RETURN(episode.values, ValuesFrom(*binding_, wanted));
  const Values& values = episode.values;
  const bool has_targets = goal.situations.empty();
  Json watch =
      has_targets ? WatchOf(*binding_, TextsOf(values)) : SituationWatchOf(*binding_, values);
  const std::string filled = watch.dump() + Json(PlanOf(episode)).dump();
  SHOAL_RETURN_IF_ERROR(CheckFilled(goal, *binding_, filled));
  SHOAL_ASSIGN_OR_RETURN(episode.watch, Watch::Parse(std::move(watch)));
  episode.milestone_count = static_cast<std::int64_t>(episode.watch->milestone_count());
  for (const auto& [name, generator] : goal.parameters) {
    if (const auto found = values.find(name); found != values.end()) {
      episode.slot_values[name] = found->second;
    }
  }
  for (const auto& [name, slot] : goal.slots) episode.slot_values[name] = values.at(name);
  for (const auto& [name, order] : binding_->orders) {
    if (const auto found = values.find(name); found != values.end()) {
      episode.slot_values[name] = found->second;
    }
  }
  return episode;
}

Plan AppliedGoal::PlanOf(const Episode& episode) const {
  Plan plan;
  for (const Json& step : binding_->plan) plan.push_back(FillValues(step, episode.values));
  return plan;
}

}  // namespace shoal::redfish
