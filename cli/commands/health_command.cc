// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/health_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "cli/commands/command_result.h"
#include "cli/diagnosis/process_health.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

struct HealthFlags {
  std::string address;
  double timeout_seconds = 5;
};

int RunHealth(const HealthFlags& flags) {
  const auto timeout = std::chrono::duration_cast<runtime::Duration>(
      std::chrono::duration<double>(flags.timeout_seconds));
  const absl::Status status = CheckAddress(flags.address, timeout);
  if (!status.ok()) {
    FailCommand(runtime::Annotate(status, flags.address));
    return runtime::kExitFailed;
  }
  std::printf("serving\n");
  return 0;
}

}  // namespace

void AddHealth(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<HealthFlags>();
  CLI::App* const health =
      app.add_subcommand("health", "Ask a process whether it serves; exit code 0 when it does");
  health
      ->add_option("ADDRESS", flags->address,
                   "host:port or unix:PATH (gRPC health), or http://host:port/path")
      ->required();
  health->add_option("--timeout", flags->timeout_seconds, "seconds to wait at most")
      ->check(CLI::Range(0.1, 600.0));
  health->callback([flags, &action] { action = [flags] { return RunHealth(*flags); }; });
}

}  // namespace shoal::cli
