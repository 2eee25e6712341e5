// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/supervisor.h"

#include <signal.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kFinished = "finished";
constexpr std::string_view kDone = "done ";

}  // namespace

Supervisor::Supervisor(const SupervisorOptions& options, runtime::Clock& clock)
    : options_(options), clock_(clock) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &child, nullptr);
}

Supervisor::~Supervisor() = default;

absl::Status Supervisor::Start(ProcessSpec spec, int stage) {
  auto process = std::make_unique<Supervised>();
  process->spec = std::move(spec);
  process->stage = stage;
  process->back_off = options_.min_back_off;
  SHOAL_RETURN_IF_ERROR(Launch(*process));
  processes_.push_back(std::move(process));
  return absl::OkStatus();
}

absl::Status Supervisor::Launch(Supervised& process) {
  SHOAL_ASSIGN_OR_RETURN(process.child, ChildProcess::Start(process.spec));
  process.started = clock_.Now();
  process.done.clear();
  for (const std::string& order : process.stopping) process.child->Order(order);
  return absl::OkStatus();
}

void Supervisor::TakeAnswers(Supervised& process) {
  if (process.child == nullptr || process.spec.parts.empty()) return;
  for (const std::string& answer : process.child->TakeAnswers()) {
    if (answer == kFinished) finished_ = true;
    if (answer.starts_with(kDone)) process.done.insert(answer.substr(kDone.size()));
  }
}

absl::Status Supervisor::Poll() {
  const runtime::TimePoint now = clock_.Now();
  for (const auto& process : processes_) {
    if (process->stopped) continue;
    TakeAnswers(*process);
    if (process->child != nullptr) {
      if (const auto state = process->child->Poll()) {
        SHOAL_RETURN_IF_ERROR(HandleEnd(*process, *state));
      } else if (now - process->started >= options_.settled_after) {
        process->settled = true;
        process->configuration_failures = 0;
        process->back_off = options_.min_back_off;
      }
    } else if (now >= process->start_at) {
      SHOAL_RETURN_IF_ERROR(Launch(*process));
      ++restarts_;
      events_.push_back("event=restarted process=" + process->spec.name +
                        " pid=" + std::to_string(process->child->pid()));
    }
  }
  return absl::OkStatus();
}

absl::Status Supervisor::HandleEnd(Supervised& process, const ExitState& state) {
  process.child.reset();
  if (process.spec.finishes && state.code == 0) {
    process.stopped = true;
    finished_ = true;
    return absl::OkStatus();
  }
  if (IsHopeless(state)) {
    ++process.configuration_failures;
    const bool over = state.code != runtime::kExitConfiguration || !process.settled ||
                      process.configuration_failures >= options_.configuration_failures;
    if (over) {
      const std::string why = process.spec.name +
                              (process.settled ? " cannot go on: " : " cannot start: ") +
                              LastFailure(process.spec.log_path);
      return state.code == runtime::kExitDiverged ? runtime::OutOfRange(why)
                                                  : runtime::InvalidArgument(why);
    }
  }
  std::string event =
      "event=ended process=" + process.spec.name + " by=\"" + ToString(state) + "\"";
  const std::string last_words = LastLines(process.spec.log_path, 1);
  if (state.code && !last_words.empty()) {
    event += "\n  " + last_words.substr(0, last_words.size() - 1);
  }
  events_.push_back(std::move(event));
  process.start_at = clock_.Now() + process.back_off;
  process.back_off = std::min(process.back_off * 2, options_.max_back_off);
  return absl::OkStatus();
}

bool Supervisor::AnyRuns(int stage) {
  return std::any_of(processes_.begin(), processes_.end(), [stage](const auto& process) {
    return process->stage == stage && process->child != nullptr && !process->child->Poll();
  });
}

bool Supervisor::KillLeft(int stage) {
  bool none = true;
  for (const auto& process : processes_) {
    if (process->stage != stage || process->child == nullptr) continue;
    if (!process->child->Poll()) none = false;
    process->child.reset();
  }
  return none;
}

bool Supervisor::StopUntil(int stage, runtime::TimePoint deadline) {
  for (const auto& process : processes_) {
    if (process->stage != stage) continue;
    process->stopped = true;
    if (process->child != nullptr) process->child->RequestStop();
  }
  while (AnyRuns(stage)) {
    if (clock_.Now() >= deadline) return false;
    WaitForChild();
  }
  return true;
}

bool Supervisor::StopParts(int stage, runtime::TimePoint deadline) {
  for (const auto& process : processes_) {
    const auto part = process->spec.parts.find(stage);
    if (part == process->spec.parts.end()) continue;
    const std::string order = "stop " + part->second;
    process->stopping.insert(order);
    if (process->child == nullptr) continue;
    process->child->Order(order);
    while (!process->done.contains(order) && !process->child->Poll()) {
      if (clock_.Now() >= deadline) return false;
      WaitForChild();
      TakeAnswers(*process);
    }
  }
  return true;
}

bool Supervisor::StopStage(int stage) {
  const runtime::TimePoint deadline = clock_.Now() + options_.stop_within;
  const bool parts = StopParts(stage, deadline);
  StopUntil(stage, deadline);
  return KillLeft(stage) && parts;
}

bool Supervisor::Stop() {
  std::set<int> stages;
  for (const auto& process : processes_) stages.insert(process->stage);
  const runtime::TimePoint deadline = clock_.Now() + options_.stop_within;
  // However long the earlier stages took, the last one gets its share of the time from SIGTERM to
  // SIGKILL.
  auto left = static_cast<std::int64_t>(stages.size());
  for (const int stage : stages) {
    const runtime::TimePoint now = clock_.Now();
    StopUntil(stage, now + std::min(options_.stage_within, (deadline - now) / left--));
  }
  for (const int stage : stages) StopUntil(stage, deadline);
  bool none = true;
  for (const int stage : stages) none = KillLeft(stage) && none;
  return none;
}

std::vector<std::string> Supervisor::TakeEvents() { return std::exchange(events_, {}); }

}  // namespace shoal::cli
