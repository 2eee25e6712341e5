// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/planned_cluster.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/cluster/local_cluster.h"
#include "cli/session/preset.h"
#include "platform/runtime/config.h"

namespace shoal::cli {

void AddPlanFlags(CLI::App& command, PlanFlags& flags) {
  command.add_option("FILE", flags.config_path, "cluster file, e.g. deploy/local/redfish.toml")
      ->required()
      ->check(CLI::ExistingFile);
  command.add_option("--world-size", flags.world_size, "learner ranks");
  command
      .add_option(
          "--gpus", flags.gpus,
          "how many GPUs inference.device = \"cuda:*\" means, as only the machine that runs "
          "the server knows")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--preset", flags.preset, "settings of an algorithm, as for `shoal train`");
  command.add_option("--set", flags.overrides, "section.key=value, over the file; repeatable")
      ->allow_extra_args(false);
}

absl::StatusOr<PlannedCluster> GatherCluster(const PlanFlags& flags,
                                             const std::vector<std::string>& programs) {
  std::vector<std::string> overrides;
  if (!flags.preset.empty()) {
    SHOAL_ASSIGN_OR_RETURN(Preset preset, LoadPreset(flags.preset, "data"));
    overrides = std::move(preset.settings);
  }
  if (flags.world_size) {
    overrides.push_back("cluster.learner_ranks=" + std::to_string(*flags.world_size));
  }
  overrides.insert(overrides.end(), flags.overrides.begin(), flags.overrides.end());
  runtime::ClusterOptions cluster;
  runtime::Config own;
  own.Add("cluster", cluster);
  SHOAL_RETURN_IF_ERROR(own.Load(flags.config_path, overrides));
  std::vector<std::string> arguments = {"--config", flags.config_path};
  AppendSettings(overrides, arguments);
  std::vector<std::string> paths;
  for (const std::string& program : programs) paths.push_back(ProgramFolder() + "/" + program);
  SHOAL_ASSIGN_OR_RETURN(EffectiveConfig config,
                         EffectiveConfig::Gather(own.Print(), paths, arguments));
  return PlannedCluster{.cluster = std::move(cluster),
                        .config = std::move(config),
                        .arguments = std::move(arguments)};
}

}  // namespace shoal::cli
