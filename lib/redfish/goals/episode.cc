// SPDX-License-Identifier: Apache-2.0
// Draws episodes of a bound goal.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/random.h"
#include "redfish/goals/fill_names.h"
#include "redfish/goals/goal_binding.h"
#include "redfish/goals/word_dropout.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using runtime::Random;

// How often another goal's target is left in some other state.
constexpr double kLeftoverShare = 0.3;
// A capture that has every value gets one of them.
constexpr int kRedraws = 1000;

bool IsListed(const Json& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string SplitName(Split split) { return split == Split::kTrain ? "train" : "evaluate"; }

template <typename T>
const T& Pick(const std::vector<T>& choices, Random& random) {
  return choices[random.Below(choices.size())];
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

// "a", "a and b", "a, b and c".
std::string JoinPhrases(const std::vector<std::string>& phrases) {
  std::string joined;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    if (i > 0) joined += i + 1 == phrases.size() ? " and " : ", ";
    joined += phrases[i];
  }
  return joined;
}

// Which targets are reached at the start: all of them exactly when `satisfied`.
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
  // A lone target is the goal itself, not a step on the way.
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
                     double word_dropout, Random& random) {
  values.insert(binding.names.begin(), binding.names.end());
  std::vector<std::string> phrases;
  for (const BoundTarget& bound : binding.targets) {
    const std::vector<std::string>& choices = bound.target.phrasings.Of(split);
    if (choices.empty()) continue;
    phrases.push_back(FillText(DropWords(Pick(choices, random), word_dropout, random), values));
  }
  values["targets"] = JoinPhrases(phrases);
  const std::string& phrasing = Pick(binding.goal->phrasings(split), random);
  return FillText(DropWords(phrasing, word_dropout, random), values);
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
                                                 Split split, double word_dropout) const {
  const Goal::Definition& goal = binding_->goal->definition();
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
    SHOAL_RETURN_IF_ERROR(DrawSituation(*binding_, values, split, word_dropout, random, episode));
    return episode;
  }
  episode.satisfied = random.Uniform() < goal.satisfied_share;
  std::vector<bool> reached =
      DrawReached(binding_->targets.size(), episode.satisfied, goal.partial_share, random);
  const bool all = std::all_of(reached.begin(), reached.end(), [](bool one) { return one; });
  // Where something is always left to do, all targets may be reached.
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
  episode.text = DrawText(*binding_, values, split, word_dropout, random);
  episode.watch = binding_->watch;
  if (!episode.watch.has_value()) {
    SHOAL_ASSIGN_OR_RETURN(episode.watch, Watch::Parse(WatchOf(*binding_, values)));
  }
  episode.milestone_count = static_cast<std::int64_t>(episode.watch->milestone_count());
  return episode;
}

Plan AppliedGoal::PlanOf(const Episode& episode) const {
  Plan plan;
  for (const Json& step : binding_->plan) plan.push_back(FillValues(step, episode.values));
  return plan;
}

}  // namespace shoal::redfish
