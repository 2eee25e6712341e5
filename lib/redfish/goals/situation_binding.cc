// SPDX-License-Identifier: Apache-2.0
// Situations bound to a capture, and drawn.
#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/goals/goal_binding.h"
#include "redfish/schema/attribute_registry.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using runtime::Random;

// Whether `where`, null for always, holds of the capture.
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

// As many starts are satisfied as on a capture that allows all situations.
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
                           Split split, double word_dropout, Random& random, Episode& episode) {
  const Situation& situation = PickSituation(binding.situations, random);
  episode.values = DrawAll(binding, parameters, random, episode);
  episode.situation = situation.name;
  episode.optimum = situation.optimum;
  episode.satisfied = situation.optimum == 0;
  DrawLeftovers(binding, random, episode.start);
  episode.start.insert(episode.start.end(), binding.start.begin(), binding.start.end());
  // Judged when the goal was read.
  const auto own = ParseStart(FillValues(Json(situation.start), episode.values));
  if (own.ok()) episode.start.insert(episode.start.end(), own->begin(), own->end());
  TextValues texts;
  for (const auto& [name, value] : episode.values) {
    if (value.is_object()) continue;
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  episode.text = DrawText(binding, std::move(texts), split, word_dropout, random);
  SHOAL_ASSIGN_OR_RETURN(episode.watch,
                         Watch::Parse(FillValues({{"predicate", {{"all", binding.require}}},
                                                  {"milestones", binding.milestones},
                                                  {"allowed", binding.allowed}},
                                                 episode.values)));
  episode.milestone_count = static_cast<std::int64_t>(binding.milestones.size());
  return absl::OkStatus();
}

}  // namespace shoal::redfish
