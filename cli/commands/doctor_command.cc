// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/cluster/cluster_file.h"
#include "cli/commands/command_result.h"
#include "cli/diagnosis/cluster_state.h"
#include "cli/diagnosis/diagnosis.h"
#include "cli/session/run_directory.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::cli {
namespace {

struct DoctorFlags {
  std::string config_path = kLatestCluster;
  double timeout_seconds = 3;
  double patience_seconds = 5;
  bool json = false;
};

// Reads where the processes of the run that `config_path` belongs to serve metrics. A cluster that
// `shoal` did not start has no such file.
absl::StatusOr<std::vector<MetricsAddress>> ProcessesOf(const std::string& config_path) {
  const auto path = std::filesystem::path(config_path).parent_path() / kProcessesFile;
  const auto text = runtime::ReadFile(path.string());
  if (absl::IsNotFound(text.status())) return std::vector<MetricsAddress>();
  SHOAL_RETURN_IF_ERROR(text.status());
  auto processes = ParseMetricsAddresses(*text);
  if (processes.ok()) return processes;
  return runtime::Annotate(processes.status(), path.string());
}

absl::StatusOr<Diagnosis> Examine(const DoctorFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const runtime::ClusterOptions cluster, ReadClusterFile(flags.config_path));
  SHOAL_ASSIGN_OR_RETURN(const auto processes, ProcessesOf(flags.config_path));
  const auto timeout = std::chrono::duration_cast<runtime::Duration>(
      std::chrono::duration<double>(flags.timeout_seconds));
  return Diagnose(AskCluster(cluster, processes, timeout), flags.patience_seconds);
}

int RunDoctor(const DoctorFlags& flags) {
  const absl::StatusOr<Diagnosis> diagnosis = Examine(flags);
  if (!diagnosis.ok()) {
    FailCommand(diagnosis.status());
    return static_cast<int>(Verdict::kUnknown);
  }
  std::fputs((flags.json ? ToJson(*diagnosis) : ToText(*diagnosis)).c_str(), stdout);
  return static_cast<int>(diagnosis->verdict);
}

}  // namespace

void AddDoctor(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<DoctorFlags>();
  CLI::App* const doctor = app.add_subcommand(
      "doctor",
      "Say who is down and who waits for whom in a running cluster; exit code 0: healthy, "
      "1: something blocks, 2: cannot tell");
  doctor->add_option("--config", flags->config_path, "cluster file of the running cluster")
      ->capture_default_str();
  doctor->add_flag("--json", flags->json, "print JSON");
  doctor->add_option("--timeout", flags->timeout_seconds, "seconds to wait for each answer at most")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  doctor
      ->add_option("--patience", flags->patience_seconds,
                   "seconds that inserts or samples may stand still before that counts as a block")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  doctor->callback([flags, &action] { action = [flags] { return RunDoctor(*flags); }; });
}

}  // namespace shoal::cli
