// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/episode_draw.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "platform/runtime/weighted_index.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/parameter_generator.h"
#include "redfish/goals/situation.h"

namespace shoal::redfish {
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

const Situation& PickSituation(const std::vector<Situation>& situations, Random& random) {
  std::vector<double> weights;
  for (const Situation& situation : situations) weights.push_back(situation.weight);
  return situations[runtime::WeightedIndex(weights, random.Uniform())];
}

// The goal's file has the situation under the same condition, so the capture allows it as well.
const Situation& ExchangeOf(const Situation& drawn, const std::vector<Situation>& situations) {
  const auto found = std::find_if(situations.begin(), situations.end(), [&](const Situation& one) {
    return one.name == drawn.exchanged;
  });
  return found == situations.end() ? drawn : *found;
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

void DrawLeftovers(const AppliedGoal::Binding& binding, Random& random,
                   std::vector<StartOperation>& operations) {
  for (const Leftover& leftover : binding.leftovers) {
    const bool left = random.Uniform() < kLeftoverShare;
    const bool reached = random.Below(2) == 0;
    const TextValues values = DrawValues(leftover.parameters, {}, random);
    if (left) AddState(leftover.target, reached, values, random, operations);
  }
}

}  // namespace

TextValues DrawValues(const std::map<std::string, std::string>& parameters,
                      const std::map<std::string, Json>& taken, Random& random) {
  TextValues values;
  std::set<std::pair<std::string, std::string>> drawn;
  for (const auto& [name, generator] : parameters) {
    const auto listed = taken.find(name);
    const auto draw = [&, &generator = generator] {
      std::string value = DrawParameter(generator, random);
      for (int more = kRedraws; more > 0 && listed != taken.end(); --more) {
        const Json& list = listed->second;
        if (std::find(list.begin(), list.end(), value) == list.end()) break;
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

namespace {

// Draws the rest of an episode of a goal with situations; `parameters` are their values.
absl::Status DrawSituation(const AppliedGoal::Binding& binding, const TextValues& parameters,
                           Split split, const TextNoise& noise, std::optional<std::size_t> wanted,
                           Random& random, Episode& episode) {
  const Situation& picked = PickSituation(binding.situations, random);
  const Situation& drawn = wanted ? binding.situations[*wanted] : picked;
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
  SHOAL_ASSIGN_OR_RETURN(episode.watch, Watch::Parse(SituationWatchOf(binding, episode.values)));
  episode.milestone_count = static_cast<std::int64_t>(binding.milestones.size());
  return absl::OkStatus();
}

}  // namespace

std::vector<SituationShare> AppliedGoal::Situations() const {
  double total = 0.0;
  for (const Situation& situation : binding_->situations) total += situation.weight;
  std::vector<SituationShare> shares;
  for (const Situation& situation : binding_->situations) {
    shares.push_back({.name = situation.name,
                      .share = situation.weight / total,
                      .satisfied = situation.optimum == 0});
  }
  return shares;
}

absl::StatusOr<Episode> AppliedGoal::DrawEpisode(std::uint64_t seed, std::uint64_t number,
                                                 Split split, const TextNoise& noise,
                                                 std::optional<std::size_t> situation) const {
  const Goal::Definition& goal = binding_->goal->definition();
  if (binding_->starts == Starts::kPresent) {
    return runtime::FailedPrecondition("goal " + goal.name + " draws no starts");
  }
  if (situation && *situation >= binding_->situations.size()) {
    return runtime::InvalidArgument("goal " + goal.name + " has " +
                                    std::to_string(binding_->situations.size()) +
                                    " situations, and none of index " + std::to_string(*situation));
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
    SHOAL_RETURN_IF_ERROR(
        DrawSituation(*binding_, values, split, noise, situation, random, episode));
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

std::string AppliedGoal::SentenceOf(const Episode& episode, std::uint64_t number) const {
  Random random(runtime::DeriveSeed(0, "sentence/" + binding_->goal->definition().name), number);
  return DrawText(*binding_, TextsOf(episode.values), Split::kTrain, {}, random);
}

}  // namespace shoal::redfish
