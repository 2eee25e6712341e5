// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_binding.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
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

}  // namespace

const std::string& UriOf(const Places& places, const std::string& resource) {
  static const std::string kNone;
  const auto found = places.find(resource);
  return found == places.end() ? kNone : found->second;
}

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

namespace {

using Json = nlohmann::json;
using runtime::Random;

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

const Situation& PickSituation(const std::vector<Situation>& situations, Random& random) {
  double total = 0.0;
  for (const Situation& situation : situations) total += situation.weight;
  double at = random.Uniform() * total;
  for (const Situation& situation : situations) {
    at -= situation.weight;
    if (at < 0.0) return situation;
  }
  return situations.back();
}

// The goal's file has the situation under the same condition, so the capture allows it as well.
const Situation& ExchangeOf(const Situation& drawn, const std::vector<Situation>& situations) {
  const auto found = std::find_if(situations.begin(), situations.end(), [&](const Situation& one) {
    return one.name == drawn.exchanged;
  });
  return found == situations.end() ? drawn : *found;
}

TextValues TextsOf(const Values& values) {
  TextValues texts;
  for (const auto& [name, value] : values) {
    if (value.is_object()) continue;
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

Values DrawAll(const AppliedGoal::Binding& binding, const TextValues& parameters, Random& random,
               Episode& episode) {
  Values values = binding.readings;
  values.insert(parameters.begin(), parameters.end());
  values.insert(binding.names.begin(), binding.names.end());
  if (!binding.choices.empty()) {
    const auto& chosen = binding.choices[random.Below(binding.choices.size())];
    values.insert(chosen.begin(), chosen.end());
  }
  for (const auto& [name, order] : binding.orders) {
    Json drawn = DrawOrder(order, random);
    values[name + ":first"] = drawn.front();
    values[name + ":captured"] = order;
    episode.slot_values[name] = drawn;
    values[name] = std::move(drawn);
  }
  for (const auto& [name, slot] : binding.goal->definition().slots) {
    episode.slot_values[name] = values[name] = FillValues(slot, values);
  }
  return values;
}

}  // namespace

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

absl::Status DrawSituation(const AppliedGoal::Binding& binding, const TextValues& parameters,
                           Split split, const TextNoise& noise, Random& random, Episode& episode) {
  const Situation& drawn = PickSituation(binding.situations, random);
  episode.exchanged = binding.starts == Starts::kExchanged && !drawn.exchanged.empty();
  const Situation& situation = episode.exchanged ? ExchangeOf(drawn, binding.situations) : drawn;
  episode.values = DrawAll(binding, parameters, random, episode);
  episode.situation = situation.name;
  episode.optimum = situation.optimum;
  episode.satisfied = situation.optimum == 0;
  DrawLeftovers(binding, random, episode.start);
  episode.start.insert(episode.start.end(), binding.start.begin(), binding.start.end());
  // ReadSituation has validated the operations already.
  const auto own = ParseStart(FillValues(Json(situation.start), episode.values));
  if (own.ok()) episode.start.insert(episode.start.end(), own->begin(), own->end());
  episode.text = DrawText(binding, TextsOf(episode.values), split, noise, random);
  SHOAL_ASSIGN_OR_RETURN(episode.watch,
                         Watch::Parse(FillValues({{"predicate", {{"all", binding.require}}},
                                                  {"milestones", binding.milestones},
                                                  {"allowed", binding.allowed}},
                                                 episode.values)));
  episode.milestone_count = static_cast<std::int64_t>(binding.milestones.size());
  return absl::OkStatus();
}

namespace {

using Json = nlohmann::json;
using runtime::Random;

// The probability that another goal's target is left in some other state.
constexpr double kLeftoverShare = 0.3;
// The bound on redraws: when all values are taken, one of them is used.
constexpr int kRedraws = 1000;

std::string SplitName(Split split) { return split == Split::kTrain ? "train" : "evaluate"; }

template <typename T>
const T& Pick(const std::vector<T>& choices, Random& random) {
  return choices[random.Below(choices.size())];
}

// Returns an empty text when there are no phrasings.
std::string DrawPhrase(const Phrasings& phrasings, Split split, Random& random) {
  if (split == Split::kTrain) {
    return phrasings.train.empty() ? "" : Pick(phrasings.train, random).Draw(random);
  }
  return phrasings.evaluate.empty() ? "" : Pick(phrasings.evaluate, random);
}

// Puts the target into a state in which it is reached, or into one in which it is not.
void AddState(const BoundTarget& bound, bool reached, const TextValues& values, Random& random,
              std::vector<StartOperation>& operations) {
  for (const TargetProperty& property : bound.target.properties) {
    Json value = FillJson(Pick(reached ? property.wanted : property.start, random), values);
    if (reached && property.contains) value = Json::array({std::move(value)});
    for (const std::string& uri : bound.along) {
      operations.push_back({uri, property.pointer, value});
    }
    operations.push_back({bound.uri, property.pointer, std::move(value)});
  }
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

// Returns "a", "a and b" or "a, b and c".
std::string JoinPhrases(const std::vector<std::string>& phrases) {
  std::string joined;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    if (i > 0) joined += i + 1 == phrases.size() ? " and " : ", ";
    joined += phrases[i];
  }
  return joined;
}

// Draws which targets are reached at the start. All are when `satisfied`.
std::vector<bool> DrawReached(std::size_t count, bool satisfied, double partial_share,
                              Random& random) {
  std::vector<bool> reached(count, satisfied);
  if (satisfied) return reached;
  for (std::size_t i = 0; i < count; ++i) reached[i] = random.Uniform() < partial_share;
  return reached;
}

}  // namespace

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

TextValues DrawValues(const std::map<std::string, std::string>& parameters,
                      const std::map<std::string, Json>& taken, Random& random) {
  TextValues values;
  std::set<std::pair<std::string, std::string>> drawn;
  for (const auto& [name, generator] : parameters) {
    const auto listed = taken.find(name);
    const auto draw = [&, &generator = generator] {
      std::string value = DrawParameter(generator, random);
      for (int more = kRedraws; more > 0 && listed != taken.end(); --more) {
        if (!IsListed(listed->second, value)) break;
        value = DrawParameter(generator, random);
      }
      return value;
    };
    std::string value = draw();
    while (!drawn.emplace(generator, value).second) value = draw();
    std::string other = draw();
    while (other == value) other = draw();
    values[name] = value;
    values["other:" + name] = std::move(other);
  }
  return values;
}

std::string DrawText(const AppliedGoal::Binding& binding, TextValues values, Split split,
                     const TextNoise& noise, Random& random) {
  values.insert(binding.names.begin(), binding.names.end());
  std::vector<std::string> phrases;
  for (const BoundTarget& bound : binding.targets) {
    const std::string phrase = DrawPhrase(bound.target.phrasings, split, random);
    if (phrase.empty()) continue;
    phrases.push_back(FillText(AddNoise(phrase, noise, random), values));
  }
  values["targets"] = JoinPhrases(phrases);
  std::string phrase = DrawPhrase(binding.goal->definition().phrasings, split, random);
  if (split == Split::kTrain && !phrase.empty() && random.Below(2) == 0) {
    phrase.front() = absl::ascii_toupper(static_cast<unsigned char>(phrase.front()));
  }
  return FillText(AddNoise(phrase, noise, random), values);
}

void DrawLeftovers(const AppliedGoal::Binding& binding, Random& random,
                   std::vector<StartOperation>& operations) {
  for (const Leftover& leftover : binding.leftovers) {
    const bool left = random.Uniform() < kLeftoverShare;
    const bool reached = random.Below(2) == 0;
    const TextValues values = DrawValues(leftover.parameters, {}, random);
    if (left) AddState(leftover.target, reached, values, random, operations);
  }
}

absl::StatusOr<Episode> AppliedGoal::DrawEpisode(std::uint64_t seed, std::uint64_t number,
                                                 Split split, const TextNoise& noise) const {
  const Goal::Definition& goal = binding_->goal->definition();
  if (binding_->starts == Starts::kPresent) {
    return runtime::FailedPrecondition("goal " + goal.name + " draws no starts");
  }
  const std::string stream =
      "goal/" + SplitName(split) + "/" + goal.name + "/" + binding_->capture_name;
  Random random(runtime::DeriveSeed(seed, stream), number);
  const TextValues values = DrawValues(goal.parameters, binding_->taken, random);
  Episode episode;
  episode.values.insert(values.begin(), values.end());
  for (const auto& [name, generator] : goal.parameters) {
    episode.slot_values[name] = values.at(name);
  }
  if (!goal.situations.empty()) {
    SHOAL_RETURN_IF_ERROR(DrawSituation(*binding_, values, split, noise, random, episode));
    return episode;
  }
  episode.satisfied = random.Uniform() < goal.satisfied_share;
  std::vector<bool> reached =
      DrawReached(binding_->targets.size(), episode.satisfied, goal.partial_share, random);
  const bool all = std::all_of(reached.begin(), reached.end(), [](bool one) { return one; });
  // All targets may be reached only where `base_cost` leaves something to do.
  if (all && !episode.satisfied && goal.base_cost == 0) {
    reached[random.Below(reached.size())] = false;
  }
  DrawLeftovers(*binding_, random, episode.start);
  episode.start.insert(episode.start.end(), binding_->start.begin(), binding_->start.end());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    AddState(binding_->targets[i], reached[i], values, random, episode.start);
    if (!reached[i]) episode.optimum += binding_->targets[i].target.cost;
  }
  if (!episode.satisfied) episode.optimum += goal.base_cost;
  episode.text = DrawText(*binding_, values, split, noise, random);
  episode.watch = binding_->watch;
  if (!episode.watch.has_value()) {
    SHOAL_ASSIGN_OR_RETURN(episode.watch, Watch::Parse(WatchOf(*binding_, values)));
  }
  episode.milestone_count = static_cast<std::int64_t>(episode.watch->milestone_count());
  return episode;
}

namespace {

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

// Adds "{BootOrder}" for a "{BootOrder:first}".
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
  Values given = wanted;
  SHOAL_RETURN_IF_ERROR(AddOrders(*binding_, given));
  for (const auto& [name, captured] : binding_->orders) given.erase(name + ":first");
  Episode episode;
  Values& values = episode.values;
  values = binding_->readings;
  values.insert(binding_->names.begin(), binding_->names.end());
  SHOAL_RETURN_IF_ERROR(
      runtime::Annotate(AddChoice(binding_->choices, given, values), "goal " + goal.name));
  SHOAL_RETURN_IF_ERROR(AddOrders(binding_->orders, given, values));
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
  const bool has_targets = goal.situations.empty();
  Json watch = has_targets ? WatchOf(*binding_, TextsOf(values))
                           : FillValues({{"predicate", {{"all", binding_->require}}},
                                         {"milestones", binding_->milestones},
                                         {"allowed", binding_->allowed}},
                                        values);
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

std::string AppliedGoal::SentenceOf(const Episode& episode, std::uint64_t number) const {
  Random random(runtime::DeriveSeed(0, "sentence/" + binding_->goal->definition().name), number);
  return DrawText(*binding_, TextsOf(episode.values), Split::kTrain, {}, random);
}

Plan AppliedGoal::PlanOf(const Episode& episode) const {
  Plan plan;
  for (const Json& step : binding_->plan) plan.push_back(FillValues(step, episode.values));
  return plan;
}

}  // namespace shoal::redfish
