// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/placer_process.h"

#include <absl/strings/numbers.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/cluster/child_process.h"
#include "placement/found_line.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kTried = "tried ";
constexpr std::string_view kFound = "found ";
constexpr std::string_view kFailed = "failed ";

std::vector<std::string> PlacerCommand(const PlacerTask& task,
                                       const placement::SearchOptions& options) {
  std::vector<std::string> command = {task.programs + "/placer",
                                      task.graph,
                                      "--devices",
                                      task.devices,
                                      "--evaluations",
                                      std::to_string(options.evaluations),
                                      "--seed",
                                      std::to_string(options.seed)};
  if (std::isfinite(options.seconds)) {
    command.insert(command.end(), {"--seconds", std::to_string(options.seconds)});
  }
  if (task.grouping == placement::Grouping::kColocation) command.push_back("--by-colocation");
  for (const std::string& one : task.device_overrides) {
    command.insert(command.end(), {"--set-device", one});
  }
  for (const std::string& one : task.search_overrides) {
    command.insert(command.end(), {"--set-search", one});
  }
  return command;
}

}  // namespace

absl::StatusOr<placement::Found> RunPlacer(const PlacerTask& task, placement::Simulator& simulator,
                                           const placement::SearchOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(
      const std::unique_ptr<ChildProcess> child,
      ChildProcess::Start(
          {.name = "placer", .command = PlacerCommand(task, options), .parts = {{0, "search"}}}));
  std::string found;
  std::string failure;
  bool stopped = false;
  std::optional<ExitState> end;
  while (!end) {
    WaitForChild();
    if (!stopped && options.stop()) {
      stopped = true;
      child->RequestStop();
    }
    // What it said at its end is read after it has ended.
    end = child->Poll();
    for (const std::string& line : child->TakeAnswers()) {
      std::uint64_t tried = 0;
      if (line.starts_with(kFound)) found = line.substr(kFound.size());
      if (line.starts_with(kFailed)) failure = line.substr(kFailed.size());
      if (line.starts_with(kTried) && absl::SimpleAtoi(line.substr(kTried.size()), &tried)) {
        options.progress(tried);
      }
    }
  }
  if (!found.empty()) return placement::ParseFound(found, simulator);
  if (stopped && failure.empty()) return runtime::Cancelled("placer was stopped at its start");
  if (failure.empty()) failure = "the program placer ended with " + ToString(*end);
  return IsHopeless(*end) ? runtime::InvalidArgument(failure) : runtime::Internal(failure);
}

}  // namespace shoal::cli
