// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/placer_process.h"

#include <absl/strings/numbers.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/cluster/child_process.h"
#include "placement/found_line.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/scratch_folder.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kTried = "tried ";
constexpr std::string_view kFound = "found ";
constexpr std::string_view kFailed = "failed ";

std::string ProgramOf(const PlacerTask& task) { return task.programs + "/placer"; }

std::vector<std::string> PlacerCommand(const PlacerTask& task,
                                       const placement::SearchOptions& options) {
  std::vector<std::string> command = {ProgramOf(task), task.graph,
                                      "--devices",     task.devices,
                                      "--evaluations", std::to_string(options.evaluations),
                                      "--seed",        std::to_string(options.seed)};
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

// When a search has to be over: at its end in time, or once somebody stops it.
class SearchEnd {
 public:
  explicit SearchEnd(const placement::SearchOptions& options)
      : options_(options), began_(runtime::SystemClock().Now()) {}

  bool Came() {
    if (came_ || (Seconds() < options_.seconds && !options_.stop())) return came_;
    came_ = true;
    when_ = Seconds();
    return true;
  }
  // Whether the program has had the time to answer since then.
  bool IsLongAgo() const { return came_ && Seconds() - when_ > kPatience; }

 private:
  static constexpr double kPatience = 10;

  double Seconds() const {
    return std::chrono::duration<double>(runtime::SystemClock().Now() - began_).count();
  }

  const placement::SearchOptions& options_;
  const runtime::TimePoint began_;
  bool came_ = false;
  double when_ = 0;
};

// What the program has said on its standard output.
struct PlacerAnswers {
  std::string found;
  std::string failure;

  void Take(const std::vector<std::string>& lines, const placement::SearchOptions& options) {
    for (const std::string& line : lines) {
      std::uint64_t tried = 0;
      if (line.starts_with(kFound)) found = line.substr(kFound.size());
      if (line.starts_with(kFailed)) failure = line.substr(kFailed.size());
      if (line.starts_with(kTried) && absl::SimpleAtoi(line.substr(kTried.size()), &tried)) {
        options.progress(tried);
      }
    }
  }
};

}  // namespace

absl::Status CheckPlacer(const PlacerTask& task) {
  if (::access(ProgramOf(task).c_str(), X_OK) == 0) return absl::OkStatus();
  return runtime::NotFound("placement-reinforce needs the program " + ProgramOf(task) +
                           ", which is not there");
}

absl::StatusOr<placement::Found> RunPlacer(const PlacerTask& task, placement::Simulator& simulator,
                                           const placement::SearchOptions& options) {
  const runtime::ScratchFolder scratch;
  const std::string log = scratch.path().empty() ? "" : scratch.path() + "/placer.log";
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> child,
                         ChildProcess::Start({.name = "placer",
                                              .command = PlacerCommand(task, options),
                                              .log_path = log,
                                              .parts = {{0, "search"}}}));
  PlacerAnswers answers;
  SearchEnd over(options);
  bool stopped = false;
  std::optional<ExitState> end;
  while (!end) {
    WaitForChild();
    if (!stopped && over.Came()) {
      stopped = true;
      child->RequestStop();
    }
    if (over.IsLongAgo()) child->Kill();
    // What it said at its end is read after it has ended.
    end = child->Poll();
    answers.Take(child->TakeAnswers(), options);
  }
  if (!answers.found.empty()) {
    absl::StatusOr<placement::Found> found = placement::ParseFound(answers.found, simulator);
    if (found.ok()) return found;
    return runtime::Internal("the program placer: " + runtime::Message(found.status()));
  }
  if (stopped && answers.failure.empty()) {
    return runtime::Cancelled("placer was stopped before it had found anything");
  }
  std::string failure = answers.failure;
  if (failure.empty()) {
    failure = "the program placer ended with " + ToString(*end);
    const std::string said = log.empty() ? "" : LastFailure(log);
    if (!said.empty()) failure += ": " + said;
  }
  return IsHopeless(*end) ? runtime::InvalidArgument(failure) : runtime::Internal(failure);
}

}  // namespace shoal::cli
