// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/environment_source.h"

#include "actor/environments/classic/simulation_kind.h"
#include "actor/environments/fleet_source.h"
#include "actor/environments/placement_environment.h"
#include "actor/environments/redfish_source.h"
#include "actor/environments/simulated_environment.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

class SimulationSource final : public EnvironmentSource {
 public:
  // REQUIRES: the environment's kind is one of SimulationKinds().
  SimulationSource(const SourceConfig& config)
      : kind_(config.environment.kind),
        options_(config.environment.simulation),
        seed_(runtime::DeriveSeed(config.seed, kind_)),
        hindsight_(config.hindsight) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t count) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      environments.push_back(std::make_unique<SimulatedEnvironment>(Make(), seed_, hindsight_));
    }
    return environments;
  }

 private:
  std::unique_ptr<Simulation> Make() const { return MakeSimulation(kind_, options_); }

  const std::string kind_;
  const SimulationOptions options_;
  const std::uint64_t seed_;
  const bool hindsight_;
  const EnvironmentSpec spec_ = SimulatedEnvironment::SpecOf(Make()->spec());
  const std::vector<Pair> pairs_ = {SimulatedEnvironment::PairOf(Make()->spec())};
};

class PlacementSource final : public EnvironmentSource {
 public:
  PlacementSource(std::shared_ptr<const PlacementTasks> tasks, std::uint64_t seed)
      : tasks_(std::move(tasks)), seed_(seed) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t count) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      environments.push_back(std::make_unique<PlacementEnvironment>(tasks_, seed_));
    }
    return environments;
  }

 private:
  const std::shared_ptr<const PlacementTasks> tasks_;
  const std::uint64_t seed_;
  const EnvironmentSpec spec_ = PlacementEnvironment::SpecOf(tasks_->options);
  const std::vector<Pair> pairs_ = PlacementEnvironment::Pairs();
};

}  // namespace

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeSource(const SourceConfig& config) {
  if (config.environment.kind == "placement") {
    SHOAL_ASSIGN_OR_RETURN(auto tasks, LoadPlacementTasks(config.environment.placement));
    return std::make_unique<PlacementSource>(std::move(tasks),
                                             runtime::DeriveSeed(config.seed, "placement"));
  }
  if (config.environment.kind != "redfish") return std::make_unique<SimulationSource>(config);
  if (config.environment.fleet_size > 1) return MakeFleetSource(config);
  return MakeRedfishSource(config);
}

}  // namespace shoal::actor
