// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/policy_placer.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "actor/environments/environment_source.h"
#include "actor/environments/placement_environment.h"
#include "placement/gradual_placement.h"

namespace shoal::actor {
absl::StatusOr<std::vector<placement::Placement>> PlaceByPolicy(const placement::Graph& graph,
                                                                const placement::DeviceSet& devices,
                                                                const PolicyPlacerOptions& options,
                                                                const CheckAttempts& check) {
  const EnvironmentOptions& trained = options.environment;
  if (trained.kind != "placement") {
    return runtime::InvalidArgument("the policy was trained on " + trained.kind +
                                    ", not on placement");
  }
  SHOAL_RETURN_IF_ERROR(placement::GradualPlacement::Create(
                            graph, devices, static_cast<std::size_t>(trained.placement.choices))
                            .status());
  std::vector<placement::Placement> placements;
  const auto tasks = std::make_shared<const PlacementTasks>(
      PlacementTasks{.options = trained.placement, .graphs = {graph}, .devices = {devices}});
  const auto keep = [&placements](const placement::Placement& placed) {
    placements.push_back(placed);
  };
  const UniformSource source(
      PlacementEnvironment::SpecOf(tasks->options), PlacementEnvironment::Pairs(),
      [&tasks, &keep] { return std::make_unique<PlacementEnvironment>(tasks, 0, keep); });
  const auto play = [&](bool greedy, std::uint64_t count,
                        runtime::Duration patience) -> absl::Status {
    const std::size_t wanted = placements.size() + count;
    const auto judge = [&placements, wanted](const EpisodeResult&) {
      return placements.size() >= wanted ? absl::OkStatus()
                                         : runtime::FailedPrecondition("more are to be drawn");
    };
    return PlayAttempts({.inference = options.inference,
                         .client_name = absl::StrCat("placer pid=", ::getpid()),
                         .greedy = greedy,
                         .attempts = count,
                         .patience = patience},
                        source, judge, check);
  };
  SHOAL_RETURN_IF_ERROR(play(true, 1, options.patience));
  if (options.samples > 0) {
    const absl::Status drawn = play(false, options.samples, options.samples_patience);
    // Those that were drawn in time count.
    const bool cut_off = absl::IsDeadlineExceeded(drawn) || absl::IsCancelled(drawn);
    if (!drawn.ok() && !cut_off) return drawn;
  }
  return placements;
}

}  // namespace shoal::actor
