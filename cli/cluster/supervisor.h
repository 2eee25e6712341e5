// SPDX-License-Identifier: Apache-2.0
// Keeps the processes of a local cluster running, and stops them in order.
//
// A process that ends by itself is started again after a back-off that doubles with each quick
// death. A process that ends with runtime::kExitPermanent or kExitDiverged is never started
// again: Poll returns an error of one line with the process's own message. The same holds for
// runtime::kExitConfiguration while the process has not yet run for settled_after. After that it
// gets a few tries, as the processes that it depends on may be restarting too. Not thread-safe: the
// main thread owns the supervisor (see ChildProcess). The destructor kills what still runs.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct SupervisorOptions {
  runtime::Duration min_back_off = std::chrono::milliseconds(200);
  runtime::Duration max_back_off = std::chrono::seconds(5);
  // A process that ran this long is next restarted after min_back_off.
  runtime::Duration settled_after = std::chrono::seconds(10);
  // Time from the start of Stop to SIGKILL for everything that still runs.
  runtime::Duration stop_within = std::chrono::seconds(4);
  // Stop waits this long for a stage, or an equal share of what is left of stop_within if that is
  // less, before it goes on to the next stage.
  runtime::Duration stage_within = std::chrono::milliseconds(1500);
  // How many ends with kExitConfiguration in a row end the run once the process had settled.
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

  // Starts a process and keeps it running. Stages are stopped in ascending order.
  absl::Status Start(ProcessSpec spec, int stage);
  // Reaps children and restarts what is due. Must be called a few times a second.
  absl::Status Poll();
  // Stops one stage for good: its processes, and the parts of other processes that belong to it.
  // Returns true when all of these processes ended before SIGKILL, and the parts in the same time.
  bool StopStage(int stage);
  // Stops everything, stage by stage, within stop_within plus the time that the kernel takes for
  // SIGKILL. Returns true when nothing had to be killed.
  bool Stop();

  // Whether a process whose spec says that it finishes has ended with exit code 0, or one with
  // parts has said that it has finished.
  bool finished() const { return finished_; }
  // The number of restarts of all processes.
  std::int64_t restarts() const { return restarts_; }
  // Returns one entry for each death and restart since the last call.
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
    // The parts that were told to stop. They are told again when the process is started again.
    std::set<std::string> stopping;
    // The orders that the process has carried out.
    std::set<std::string> done;
    bool settled = false;
    bool stopped = false;
  };

  absl::Status Launch(Supervised& process);
  absl::Status HandleEnd(Supervised& process, const ExitState& state);
  void TakeAnswers(Supervised& process);
  bool StopParts(int stage, runtime::TimePoint deadline);
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
