// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/environment_source.h"

#include "actor/environments/classic/simulation_kind.h"
#include "actor/environments/exploring_environment.h"
#include "actor/environments/fleet_source.h"
#include "actor/environments/placement_environment.h"
#include "actor/environments/redfish_source.h"
#include "actor/environments/simulated_environment.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// REQUIRES: the environment's kind is one of SimulationKinds().
std::unique_ptr<EnvironmentSource> MakeSimulationSource(const SourceConfig& config) {
  const std::string& kind = config.environment.kind;
  const SimulationSpec spec = MakeSimulation(kind, config.environment.simulation)->spec();
  return std::make_unique<UniformSource>(
      SimulatedEnvironment::SpecOf(spec), std::vector{SimulatedEnvironment::PairOf(spec)},
      [kind, options = config.environment.simulation, seed = runtime::DeriveSeed(config.seed, kind),
       hindsight = config.hindsight] {
        return std::make_unique<SimulatedEnvironment>(MakeSimulation(kind, options), seed,
                                                      hindsight);
      });
}

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakePlacementSource(const SourceConfig& config) {
  SHOAL_ASSIGN_OR_RETURN(const auto tasks, LoadPlacementTasks(config.environment.placement));
  return std::make_unique<UniformSource>(
      PlacementEnvironment::SpecOf(tasks->options), PlacementEnvironment::Pairs(),
      [tasks, seed = runtime::DeriveSeed(config.seed, "placement")] {
        return std::make_unique<PlacementEnvironment>(tasks, seed);
      });
}

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeTaskSource(const SourceConfig& config) {
  if (config.environment.kind == "placement") return MakePlacementSource(config);
  if (config.environment.kind == "gymnasium") {
    return runtime::InvalidArgument(
        "environment.kind is gymnasium, which the program actor alone plays, as a process in "
        "Python: neither in one process with others (--in-process) nor in a recording");
  }
  if (config.environment.kind != "redfish") return MakeSimulationSource(config);
  if (config.environment.fleet_size > 1) return MakeFleetSource(config);
  return MakeRedfishSource(config);
}

}  // namespace

std::vector<std::unique_ptr<Environment>> UniformSource::Create(boost::asio::any_io_executor,
                                                                std::uint64_t,
                                                                std::size_t count) const {
  std::vector<std::unique_ptr<Environment>> environments;
  for (std::size_t i = 0; i < count; ++i) environments.push_back(make_());
  return environments;
}

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeSource(const SourceConfig& config) {
  const ExplorationOptions& exploration = config.environment.exploration;
  if (exploration.members > 0 && config.environment.kind == "placement") {
    return runtime::InvalidArgument(
        "environment.exploration.members is above 0, and placement has no use for it");
  }
  const bool asks_for_family = exploration.bandit_window > 0 || exploration.split_rewards;
  if (exploration.members == 0 && asks_for_family) {
    return runtime::InvalidArgument(
        "environment.exploration.bandit_window and split_rewards need a family of policies: "
        "environment.exploration.members is 0");
  }
  SHOAL_ASSIGN_OR_RETURN(auto source, MakeTaskSource(config));
  if (exploration.members == 0) return source;
  return MakeExploringSource(std::move(source), exploration,
                             runtime::DeriveSeed(config.seed, "exploration"));
}

}  // namespace shoal::actor
