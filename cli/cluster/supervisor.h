// SPDX-License-Identifier: Apache-2.0
// Keeps the processes of a local cluster running, and ends them in order.
//
// A process that ends by itself is started again after a back-off that doubles with each quick
// death. One that ends with runtime::kExitPermanent is never started again: Poll returns an error
// of one line, with the process's own words. One that ends with runtime::kExitConfiguration is
// treated alike, unless it did start before: then it gets a few tries, as what it depends on may be
// restarting too. Not thread-safe: the main thread owns it (see ChildProcess).
// The destructor kills what is left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct SupervisorOptions {
  runtime::Duration min_back_off = std::chrono::milliseconds(200);
  runtime::Duration max_back_off = std::chrono::seconds(5);
  // A process that lived this long starts again with the least back-off.
  runtime::Duration settled_after = std::chrono::seconds(10);
  // From the start of Stop to SIGKILL for all that still run.
  runtime::Duration stop_within = std::chrono::seconds(4);
  // Stop goes on to the next stage after this, or after an equal share of what is left of
  // stop_within, though the one before is not through.
  runtime::Duration stage_within = std::chrono::milliseconds(1500);
  // Ends with kExitConfiguration in a row, after a first good start, that end the run.
  int configuration_failures = 3;
};

class Supervisor {
 public:
  // `clock` outlives this.
  explicit Supervisor(const SupervisorOptions& options = {},
                      runtime::Clock& clock = runtime::SystemClock());
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Starts a process and keeps it. Stages end in ascending order.
  absl::Status Start(ProcessSpec spec, int stage);
  // Reaps and restarts what is due; call it a few times a second.
  absl::Status Poll();
  // Ends one stage and keeps it ended; true when all of it left before SIGKILL.
  bool StopStage(int stage);
  // Ends everything, stage by stage, within stop_within plus what the kernel takes for SIGKILL.
  // True when nothing had to be killed.
  bool Stop();

  // True once a process that finishes has done so.
  bool finished() const { return finished_; }
  // Starts after the first one, over all processes.
  std::int64_t restarts() const { return restarts_; }
  // One line for each death and restart since the last call.
  std::vector<std::string> TakeEvents();

 private:
  struct Supervised {
    ProcessSpec spec;
    int stage = 0;
    std::unique_ptr<ChildProcess> child;
    runtime::TimePoint started = {};
    runtime::TimePoint start_at = {};
    runtime::Duration back_off = {};
    int configuration_failures = 0;
    bool settled = false;
    bool stopped = false;
  };

  absl::Status Launch(Supervised& process);
  absl::Status HandleEnd(Supervised& process, const ExitState& state);
  bool StopUntil(int stage, runtime::TimePoint deadline);
  bool AnyRuns(int stage);
  bool KillLeft(int stage);

  const SupervisorOptions options_;
  runtime::Clock& clock_;
  std::vector<std::unique_ptr<Supervised>> processes_;
  std::vector<std::string> events_;
  std::int64_t restarts_ = 0;
  bool finished_ = false;
};

}  // namespace shoal::cli
