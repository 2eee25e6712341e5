// SPDX-License-Identifier: Apache-2.0
#include "placement/distribution_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "placement/choice_distribution.h"
#include "placement/choices.h"
#include "placement/policy_gradient.h"
#include "platform/runtime/random.h"
#include "rl/estimators/elites.h"

namespace shoal::placement {
namespace {

// The probabilities of choices before anything is known: to follow, if that is possible, and every
// device alike.
std::vector<double> PriorProbabilities(std::size_t groups, std::size_t devices, double follow) {
  std::vector<double> probabilities;
  for (std::size_t group = 0; group < groups; ++group) {
    probabilities.insert(probabilities.end(), devices, (1 - follow) / static_cast<double>(devices));
    if (follow > 0) probabilities.push_back(follow);
  }
  return probabilities;
}

// Mixes what `placement` has into the prior by its share.
std::vector<double> Around(const ChoiceDecoder& decoder, const Placement& placement, double share,
                           std::vector<double> prior, double follow) {
  const Choices start =
      follow > 0 ? decoder.Encode(placement) : Choices(placement.begin(), placement.end());
  const std::size_t choices = prior.size() / start.size();
  for (double& probability : prior) probability *= 1 - share;
  for (std::size_t group = 0; group < start.size(); ++group) {
    prior[group * choices + start[group]] += share;
  }
  return prior;
}

void FitToElites(std::span<const Sample> samples, const DistributionRule& rule,
                 std::span<const double> prior, ChoiceDistribution& distribution) {
  std::vector<float> rewards;
  for (const Sample& sample : samples) rewards.push_back(static_cast<float>(sample.reward));
  const std::vector<std::size_t> elites = estimators::Elites(rewards, 100 * (1 - rule.elites));
  const double share = (1 - rule.uniform) / static_cast<double>(elites.size());
  std::vector<double> probabilities;
  for (const double probability : prior) probabilities.push_back(rule.uniform * probability);
  for (const std::size_t elite : elites) {
    const Choices& choices = samples[elite].choices;
    for (std::size_t group = 0; group < choices.size(); ++group) {
      probabilities[group * distribution.choices() + choices[group]] += share;
    }
  }
  distribution.SetProbabilities(std::move(probabilities));
}

// How many placements the next closed form has, and when the search begins again.
class Rounds {
 public:
  explicit Rounds(const DistributionRule& rule)
      : rule_(rule), size_(static_cast<std::size_t>(rule.cross_entropy_every)) {}

  std::size_t size() const { return size_; }

  // Ends a round after which the best placement costs `best`. Returns whether the search is to
  // begin again around that.
  bool End(double best) {
    fruitless_ = best < best_ ? 0 : fruitless_ + 1;
    best_ = best;
    if (rule_.patience == 0 || fruitless_ < rule_.patience) return false;
    fruitless_ = 0;
    size_ *= 2;
    if (size_ <= static_cast<std::size_t>(rule_.cross_entropy_most)) return false;
    size_ = static_cast<std::size_t>(rule_.cross_entropy_every);
    return true;
  }

 private:
  const DistributionRule& rule_;
  std::size_t size_;
  std::int64_t fruitless_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

// What a file calls [placement.search].
struct SearchTable {
  DistributionRules& rules;

  void Visit(runtime::Visitor& visitor) { visitor.Group("search", rules); }
};

// The policy gradient of a search, with what it remembers between batches.
class Learner {
 public:
  explicit Learner(const DistributionRule& rule) : rule_(rule), reinforce_(rule.learning_rate) {}

  void Learn(std::span<const Sample> samples, ChoiceDistribution& distribution) {
    if (rule_.gradient == Gradient::kReinforce) return reinforce_.Learn(samples, distribution);
    const Proximal proximal{.steps = static_cast<int>(rule_.steps),
                            .learning_rate = rule_.learning_rate,
                            .penalty = rule_.penalty};
    proximal.Learn(samples, distribution);
  }

 private:
  const DistributionRule& rule_;
  Reinforce reinforce_;
};

}  // namespace

void DistributionRule::Visit(runtime::Visitor& visitor) {
  constexpr double kMostPlacements = 1e6;
  if (gradient != Gradient::kNone) {
    visitor.Knob("gradient_every", gradient_every,
                 {.help = "placements between two updates by the policy gradient",
                  .unit = "placements",
                  .min = 2,
                  .max = kMostPlacements});
    visitor.Knob("learning_rate", learning_rate,
                 {.help = "size of a step of the gradient", .min = 1e-9, .max = 1e6});
  }
  if (gradient == Gradient::kProximal) {
    visitor.Knob("steps", steps, {.help = "steps of each update", .min = 1, .max = 1000});
    visitor.Knob("penalty", penalty,
                 {.help = "weight of the divergence from the distribution before the update",
                  .min = 0,
                  .max = 1e6});
  }
  if (cross_entropy) {
    visitor.Knob("cross_entropy_every", cross_entropy_every,
                 {.help = "placements of which the best decide the next distribution",
                  .unit = "placements",
                  .min = 2,
                  .max = kMostPlacements});
    visitor.Knob("elites", elites, {.help = "share of the best", .min = 1e-6, .max = 1});
    visitor.Knob(
        "uniform", uniform,
        {.help = "share in the mixture of the distribution before anything is known, which "
                 "is uniform over devices",
         .min = 1e-6,
         .max = 1});
  }
  if (gradient != Gradient::kNone && cross_entropy) {
    visitor.Knob("patience", patience,
                 {.help = "closed forms in a row without a better placement after which "
                          "cross_entropy_every doubles; 0 for never",
                  .min = 0,
                  .max = kMostPlacements});
    visitor.Knob("cross_entropy_most", cross_entropy_most,
                 {.help = "most to which cross_entropy_every doubles; beyond it the search begins "
                          "again around its best placement, with the first cross_entropy_every",
                  .unit = "placements",
                  .min = 2,
                  .max = kMostPlacements});
    visitor.Knob("restart", restart,
                 {.help = "share of what a group has in the best placement when the search begins "
                          "again",
                  .min = 0,
                  .max = 0.999});
  }
  visitor.Knob(
      "follow", follow,
      {.help = "probability, at first, that a group follows its neighbours to their device; "
               "with 0 every group chooses a device of its own",
       .min = 0,
       .max = 0.999});
  if (start > 0) {
    visitor.Knob("start", start,
                 {.help = "share, at first, of what a group has in the placement with which the "
                          "search begins",
                  .min = 0,
                  .max = 0.999});
  }
}

void DistributionRules::Visit(runtime::Visitor& visitor) {
  visitor.Group("cem", cem);
  visitor.Group("softmax_reinforce", softmax_reinforce);
  visitor.Group("ppo", ppo);
  visitor.Group("post", post);
  visitor.Group("refine", refine);
  visitor.Group("reinforce", reinforce);
}

absl::StatusOr<DistributionRules> ParseDistributionRules(
    const std::vector<std::string>& overrides) {
  DistributionRules rules;
  SearchTable table{.rules = rules};
  runtime::Config config;
  config.Add("placement", table);
  SHOAL_RETURN_IF_ERROR(config.Load("", overrides));
  return rules;
}

std::string SettingsSection(std::string_view search) {
  constexpr std::string_view kPrefix = "placement-";
  if (search.starts_with(kPrefix)) search.remove_prefix(kPrefix.size());
  std::string section(search);
  std::replace(section.begin(), section.end(), '-', '_');
  return section;
}

std::string DefaultSettings(std::string_view search) {
  DistributionRules rules;
  SearchTable table{.rules = rules};
  runtime::Config config;
  config.Add("placement", table);
  const std::string text = config.Print();
  const std::size_t begin = text.find("[placement.search." + SettingsSection(search) + "]");
  if (begin == std::string::npos) return "";
  const std::string section = text.substr(begin, text.find("\n[", begin) - begin);
  return section.substr(0, section.find_last_not_of('\n') + 2);
}

absl::StatusOr<Found> SearchByDistribution(std::string_view name, const DistributionRule& rule,
                                           const GroupGraph& groups, Simulator& simulator,
                                           const SearchOptions& options,
                                           const std::optional<Placement>& from) {
  const bool learns = rule.gradient != Gradient::kNone;
  const auto gradient_every = static_cast<std::size_t>(learns ? rule.gradient_every : 0);
  Rounds rounds(rule);
  if (learns && rule.cross_entropy && rounds.size() % gradient_every != 0) {
    return runtime::InvalidArgument(
        "cross_entropy_every of " + std::string(name) + " is " + std::to_string(rounds.size()) +
        ", which is no multiple of its gradient_every, " + std::to_string(gradient_every));
  }
  Trial trial(simulator, options, Repeats::kFree);
  runtime::Random random(runtime::DeriveSeed(options.seed, name));
  const ChoiceDecoder decoder(groups, simulator.devices());
  const std::vector<double> prior =
      PriorProbabilities(simulator.groups(), simulator.devices(), rule.follow);
  std::vector<double> probabilities = prior;
  if (from) {
    SHOAL_RETURN_IF_ERROR(trial.Cost(*from).status());
    probabilities = Around(decoder, *from, rule.start, prior, rule.follow);
  }
  ChoiceDistribution distribution(simulator.groups(), prior.size() / simulator.groups());
  distribution.SetProbabilities(std::move(probabilities));
  Learner learner(rule);
  // Those since the last closed form, or without it, since the last gradient.
  std::vector<Sample> samples;
  while (!trial.Ended()) {
    Choices choices = distribution.Draw(random);
    SHOAL_ASSIGN_OR_RETURN(const double cost, trial.Cost(decoder.Decode(choices)));
    samples.push_back({.choices = std::move(choices), .reward = -std::sqrt(cost)});
    if (rule.cross_entropy && samples.size() == rounds.size()) {
      if (rounds.End(trial.best().cost())) {
        distribution.SetProbabilities(
            Around(decoder, trial.best_placement(), rule.restart, prior, rule.follow));
      } else {
        FitToElites(samples, rule, prior, distribution);
      }
      samples.clear();
    } else if (learns && samples.size() % gradient_every == 0) {
      learner.Learn(std::span(samples).last(gradient_every), distribution);
      if (!rule.cross_entropy) samples.clear();
    }
  }
  return trial.Take();
}

}  // namespace shoal::placement
