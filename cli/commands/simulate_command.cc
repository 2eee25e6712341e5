// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/simulate_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "cli/commands/command_result.h"
#include "cli/commands/planned_cluster.h"
#include "cli/simulation/simulation.h"
#include "cli/simulation/simulation_result.h"

namespace shoal::cli {
namespace {

struct SimulateFlags {
  PlanFlags cluster;
  std::string costs = "data/simulation/two_processors.toml";
  std::optional<double> processors;
  double seconds = 20;
  std::string format = "text";
  bool print_costs = false;
};

absl::StatusOr<SimulationOptions> OptionsOf(const SimulateFlags& flags) {
  if (!std::filesystem::is_directory(flags.costs)) return ReadSimulationFile(flags.costs);
  const double own = std::max(1U, std::thread::hardware_concurrency());
  return MeasureRun(flags.costs, flags.processors.value_or(own));
}

absl::StatusOr<SimulatedCluster> ClusterOf(const SimulateFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const PlannedCluster cluster,
                         GatherCluster(flags.cluster, {"actor", "replay", "inference", "learner"}));
  return SimulatedCluster::From(cluster.config, cluster.cluster, flags.cluster.gpus);
}

int RunSimulate(const SimulateFlags& flags) {
  const absl::StatusOr<SimulationOptions> options = OptionsOf(flags);
  if (!options.ok()) return FailCommand(options.status());
  if (flags.print_costs) {
    std::fputs(options->Print().c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<SimulatedCluster> cluster = ClusterOf(flags);
  if (!cluster.ok()) return FailCommand(cluster.status());
  const absl::StatusOr<SimulationResult> result = Simulate(*cluster, *options, flags.seconds);
  if (!result.ok()) return FailCommand(result.status());
  std::fputs((flags.format == "json" ? ToJson(*result) : ToText(*result)).c_str(), stdout);
  return 0;
}

}  // namespace

void AddSimulate(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<SimulateFlags>();
  CLI::App* const simulate = app.add_subcommand(
      "simulate",
      "Say how fast a cluster would be on given machines, and what limits it; start none");
  AddPlanFlags(*simulate, flags->cluster);
  simulate
      ->add_option("--costs", flags->costs,
                   "what operations cost, and the machines: section [simulation] of a TOML file, "
                   "or the folder of a run, which measured them on one machine")
      ->check(CLI::ExistingPath)
      ->capture_default_str();
  simulate
      ->add_option("--processors", flags->processors,
                   "processors of the machine of a run; default: those of this machine")
      ->check(CLI::Range(0.01, 10000.0));
  simulate->add_flag("--print-costs", flags->print_costs,
                     "print section [simulation] instead, to be saved and changed");
  simulate
      ->add_option("--seconds", flags->seconds, "simulated time; the first third is not counted")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  simulate->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  simulate->callback([flags, &action] { action = [flags] { return RunSimulate(*flags); }; });
}

}  // namespace shoal::cli
