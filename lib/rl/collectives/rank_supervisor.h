// SPDX-License-Identifier: Apache-2.0
// Keeps a group of ranks running on this node: when it fails, all ranks are started again.
//
// A group starts once every rank of the one before is reaped, and not before, after a back-off that
// doubles with each failure. It has a new port and a larger epoch, so no rank of an older group can
// join it. RankGroup says when a group fails.
//
// No restart follows
//   - when a rank ended with an exit code for which runtime::IsFinalExit holds;
//   - when a rank ended with any exit code before the ranks had ever joined, as with a wrong flag;
//   - when the group has ranks on other nodes, which would have to start again too;
//   - when `max_restarts` groups in a row were started in vain. A group that works for
//     `settled_after` gets all restarts and the shortest back-off back.
//
// SIGTERM and SIGINT end the ranks, and nothing is started any more. Not thread-safe: the process
// has one thread.
#pragma once

#include <signal.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/rank_group.h"
#include "rl/collectives/rank_progress.h"
#include "rl/collectives/restarts.h"

namespace shoal::collectives {

struct SupervisionOptions {
  // How many groups in a row may be started after failures. With 0 the first failure is final.
  std::int64_t max_restarts = 3;
  runtime::Duration min_back_off = std::chrono::milliseconds(500);
  runtime::Duration max_back_off = std::chrono::seconds(30);
  // How long a group works, counted from when all its ranks had joined, until earlier failures are
  // forgotten.
  runtime::Duration settled_after = std::chrono::seconds(60);
  GroupLimits limits = {};
  // The exit code when a signal comes between two groups, as a rank has it that is asked to stop.
  int stop_code = 0;
};

class RankSupervisor {
 public:
  RankSupervisor(NodePlace place, const SupervisionOptions& options);

  // Returns nothing in each rank, which goes on as that rank. In the supervisor it returns an exit
  // code once no group runs and none is started again: 0 when every rank ended with 0,
  // SupervisionOptions::stop_code when a signal came between two groups, otherwise
  // GroupFailure::exit_code of the last failure. Returns
  // RESOURCE_EXHAUSTED or FAILED_PRECONDITION when the system refuses memory, a process or a port;
  // then no rank is left.
  absl::StatusOr<std::optional<int>> Run();

  // In a rank: where it reports its calls.
  RankProgress* progress() const { return own_progress_; }
  // The failures so far, by ToString of their cause.
  const std::map<std::string, std::int64_t>& failures() const { return failures_; }

 private:
  absl::StatusOr<std::optional<int>> RunGroups(const sigset_t& mask);
  // Counts and logs `failure`. Returns false when no group is to be started after it.
  bool MayRestart(const RankGroup& group, const GroupFailure& failure);
  // Returns why no group is started after `failure`, or nothing.
  std::optional<std::string> Hopeless(const GroupFailure& failure) const;

  const NodePlace place_;
  const SupervisionOptions options_;
  // One for each rank; mapped until the process ends.
  RankProgress* progress_ = nullptr;
  RankProgress* own_progress_ = nullptr;
  std::uint64_t epoch_ = 0;
  bool ever_joined_ = false;
  Restarts restarts_;
  runtime::Duration back_off_{};
  std::map<std::string, std::int64_t> failures_;
};

}  // namespace shoal::collectives
