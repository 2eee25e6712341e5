// SPDX-License-Identifier: Apache-2.0
// One group of ranks on this node: forked together, watched until all have ended, and judged.
//
// A group fails when one of its ranks
//   - ends with an exit code other than 0, or by a signal;
//   - stands still as SIGSTOP leaves it, for GroupLimits::stopped;
//   - comes later to a collective call than the others allow (GroupOptions::call_timeout): they end
//     with an error, and the late rank is killed;
// or when no rank begins or ends a collective call for twice GroupOptions::call_timeout. The ranks
// that are left then get SIGTERM, and SIGKILL after GroupLimits::stop_grace.
//
// Ranks die with the process that forked them, whatever ends it (PR_SET_PDEATHSIG). Not
// thread-safe: the process has one thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/rank_progress.h"

namespace shoal::collectives {

// Where the ranks of this node stand among those of the whole group.
struct NodePlace {
  struct Master {
    std::string address;
    std::uint16_t port = 0;
    // The same number on all nodes, and a larger one after each start (SHOAL_GROUP_EPOCH).
    std::uint64_t epoch = 0;
    // The listening socket for rank 0 where this node has that rank, or -1 for rank 0 to bind the
    // port. Start closes it.
    int listener = -1;
  };

  std::int64_t local_ranks = 1;
  std::int64_t first_rank = 0;
  std::int64_t world_size = 1;
  // Where rank 0 listens, when there are other nodes. Nothing for a group of this node alone, which
  // gets a free port and an epoch of its own.
  std::optional<Master> master = {};
};

struct GroupLimits {
  // The time from SIGTERM to SIGKILL.
  runtime::Duration stop_grace = std::chrono::seconds(5);
  // A rank may be stopped this long, as by SIGSTOP or Ctrl-Z.
  runtime::Duration stopped = std::chrono::seconds(10);
};

enum class FailureCause {
  kExit,      // a rank ended with an exit code of its own accord
  kSignal,    // a signal ended a rank
  kStopped,   // a rank was stopped too long
  kDeadline,  // a rank was too late for a collective call
  kStalled,   // no rank made a collective call any more
};
// Returns "exit", "signal", "stopped", "deadline" or "stalled".
std::string ToString(FailureCause cause);

struct GroupFailure {
  FailureCause cause = FailureCause::kExit;
  // The number on this node of the rank at fault. Where several could be, an exit code for which no
  // restart helps comes first.
  std::size_t rank = 0;
  // The rank's exit code, or 128 + the signal that ended it; kExitFailed for a rank that was
  // stopped and for a group that stalled.
  int exit_code = 0;
};

// Somebody else than the signals of this process who may end a group.
class GroupOrders {
 public:
  virtual ~GroupOrders() = default;
  // A descriptor that is readable when there is news, or -1.
  virtual int descriptor() const = 0;
  // Called when it is readable, after a signal, and at least once a second. `asked_to_end` says
  // whether SIGTERM or SIGINT came, which end no rank by themselves here. Returns in how much time
  // the ranks are to end, or nothing while they go on.
  virtual std::optional<runtime::Duration> Look(bool asked_to_end) = 0;
};

class RankGroup {
 public:
  // `progress` has a cell for each rank, in memory that outlives this and is shared with children.
  // The caller has blocked SIGCHLD, SIGTERM and SIGINT.
  RankGroup(NodePlace place, std::uint64_t epoch, const GroupLimits& limits,
            RankProgress* progress);

  // Forks the ranks. Returns nothing in the caller, and in each rank its number on this node; the
  // rank then has its environment variables (launch.h) and the signal mask `mask`. After an error
  // no rank is left: RESOURCE_EXHAUSTED when the system refuses a process, FAILED_PRECONDITION when
  // it refuses a port.
  absl::StatusOr<std::optional<std::int64_t>> Start(const sigset_t& mask);

  // Waits until all ranks have ended. SIGTERM and SIGINT end them, or `orders` do if it is not
  // null. Returns nothing when each ended with 0.
  std::optional<GroupFailure> Watch(GroupOrders* orders = nullptr);

  // Whether SIGTERM or SIGINT came.
  bool asked_to_end() const { return asked_to_end_; }
  // Since when all ranks had joined, or nothing.
  std::optional<runtime::TimePoint> joined_since() const { return joined_since_; }

 private:
  struct Rank {
    pid_t pid = 0;
    bool running = true;
    // What waitpid said at the end.
    int status = 0;
    std::optional<runtime::TimePoint> stopped_since = {};
    // Whether this process has sent SIGKILL.
    bool killed = false;
  };

  void Reap();
  void HandleChange(std::size_t rank, int status);
  void CheckStopped(runtime::TimePoint now);
  void CheckProgress(runtime::TimePoint now);
  // Begins the end of the ranks that are left, or shortens the time that they get for it.
  void End(runtime::Duration grace);
  void End() { End(limits_.stop_grace); }
  void Kill(Rank& rank);
  bool AnyRuns() const;
  // Returns when something is due if no signal comes before.
  runtime::TimePoint NextLook(runtime::TimePoint now) const;
  // The longest time without a collective call of any rank, or nothing before all have joined.
  std::optional<runtime::Duration> StallLimit() const;
  std::optional<GroupFailure> Judge() const;

  const NodePlace place_;
  const std::uint64_t epoch_;
  const GroupLimits limits_;
  RankProgress* const progress_;

  std::vector<Rank> ranks_;
  // Set when this process found the failure itself.
  std::optional<GroupFailure> verdict_;
  bool asked_to_end_ = false;
  // Set while the ranks are made to end.
  std::optional<runtime::TimePoint> kill_at_;
  // The rank that had made the fewest calls when that began.
  std::size_t behind_ = 0;
  // The sum of the ranks' calls, and when it last changed.
  std::int64_t calls_ = 0;
  runtime::TimePoint moved_at_ = {};
  std::optional<runtime::TimePoint> joined_since_;
};

// The signals that a process which watches ranks must block.
sigset_t WatchedSignals();
// Runs `work` with these signals blocked. It gets the mask from before, which holds again
// afterwards.
template <typename Work>
auto WithWatchedSignalsBlocked(const Work& work) {
  const sigset_t signals = WatchedSignals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  auto result = work(before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return result;
}
// Waits until one of them comes, until `descriptor` is readable if it is not -1, or until
// `deadline`. Returns whether SIGTERM or SIGINT came.
bool AwaitStopSignal(runtime::TimePoint deadline, int descriptor = -1);

}  // namespace shoal::collectives
