// SPDX-License-Identifier: Apache-2.0
// Placements by a distribution that is drawn from and moved towards what was good.
//
// Post (Gao, Chen and Li, "Post: device placement with cross-entropy minimization and proximal
// policy optimization", NeurIPS 2018, algorithm 1) does both of two things: after every K
// placements it takes steps of a policy gradient, and instead of that after every N the closed form
// of cross-entropy minimisation: a group's probabilities are the shares of choices among the best
// of these N, mixed with the prior. Searches that do one of the two are the same loop with the
// other one left out. Beyond the paper, whose prior is uniform over devices, a group may follow its
// neighbours (choices.h), a search may begin around a placement, and one that does both begins
// again around its best placement once closed forms find none that is better. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/group_graph.h"
#include "placement/sequence_rule.h"
#include "placement/trial.h"
#include "platform/runtime/config.h"

namespace shoal::placement {

// policy_gradient.h says what they are.
enum class Gradient : std::uint8_t { kNone, kReinforce, kProximal };

// Settings of a gradient or a closed form that the search leaves out are not its knobs.
struct DistributionRule {
  Gradient gradient = Gradient::kNone;
  bool cross_entropy = false;
  // K and N.
  std::int64_t gradient_every = 20;
  std::int64_t cross_entropy_every = 400;
  double learning_rate = 0.1;
  std::int64_t steps = 10;
  double penalty = 1;
  // The share of the best, and that of the prior in the mixture.
  double elites = 0.1;
  double uniform = 0.1;
  // The probability of following in the prior; devices are equally likely for the rest. With 0
  // there is no such choice.
  double follow = 0.5;
  // Of a search that does both: N doubles after so many closed forms in a row in which no placement
  // was better than all before, and where it would be more than its most, the distribution begins
  // again around the best placement, with the first N. 0 for never.
  std::int64_t patience = 0;
  std::int64_t cross_entropy_most = 1000;
  // The share of what the best placement has for a group, when the distribution begins again; the
  // rest is the prior.
  double restart = 0.8;
  // Of a search that begins with a placement: the share of what that one has for a group in the
  // first probabilities; the rest is the prior. 0 for all other searches.
  double start = 0;

  void Visit(runtime::Visitor& visitor);
};

// The searches that learn by name, each with its own settings. Those of the first four were the
// best of as many for each on random networks of 20 to 60 groups (tests/bars/placement).
struct DistributionRules {
  DistributionRule cem{
      .cross_entropy = true, .cross_entropy_every = 30, .elites = 0.03, .uniform = 0.1};
  DistributionRule softmax_reinforce{
      .gradient = Gradient::kReinforce, .gradient_every = 5, .learning_rate = 0.003};
  DistributionRule ppo{
      .gradient = Gradient::kProximal, .gradient_every = 20, .learning_rate = 0.3, .penalty = 0.3};
  DistributionRule post{.gradient = Gradient::kProximal,
                        .cross_entropy = true,
                        .gradient_every = 20,
                        .cross_entropy_every = 100,
                        .learning_rate = 0.3,
                        .penalty = 3,
                        .elites = 0.05,
                        .uniform = 0.05,
                        .patience = 3,
                        .cross_entropy_most = 100,
                        .restart = 0.8};
  // Post from a placement that is good already, with few placements to try. These settings were
  // chosen among a dozen on such networks, with the first choices as the placement.
  DistributionRule refine{.gradient = Gradient::kProximal,
                          .cross_entropy = true,
                          .gradient_every = 20,
                          .cross_entropy_every = 200,
                          .learning_rate = 0.3,
                          .penalty = 3,
                          .elites = 0.05,
                          .uniform = 0.05,
                          .start = 0.5};

  // Of placement-reinforce, which draws from a policy of another kind (sequence_rule.h).
  SequenceRule reinforce;

  // Reads [placement.search.post] and so on.
  void Visit(runtime::Visitor& visitor);
};

// The defaults with overrides such as "placement.search.post.learning_rate=0.5". INVALID_ARGUMENT
// naming the key that is unknown or out of range.
absl::StatusOr<DistributionRules> ParseDistributionRules(const std::vector<std::string>& overrides);

// Returns the section of [placement.search] that has the settings of a search: its name with
// underscores, and without "placement-" at its beginning, as the section already says it. So it is
// "cem" for "placement-cem".
std::string SettingsSection(std::string_view search);

// Returns the default settings of a search as TOML; empty for one that has none.
std::string DefaultSettings(std::string_view search);

// Tries options.evaluations placements. `name` chooses the random draws, so that two searches with
// the same seed draw different placements. INVALID_ARGUMENT if both are used and
// cross_entropy_every is no multiple of gradient_every, since a gradient needs placements of one
// distribution. With `from`, that placement is the first that is tried, and the distribution begins
// around it. REQUIRES: settings are within the bounds of their knobs, evaluations >= 1, `groups`
// and `simulator` are of one graph, which has a group, and `from` is a placement of it.
absl::StatusOr<Found> SearchByDistribution(std::string_view name, const DistributionRule& rule,
                                           const GroupGraph& groups, Simulator& simulator,
                                           const SearchOptions& options,
                                           const std::optional<Placement>& from = std::nullopt);

}  // namespace shoal::placement
