// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_group.h"

#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

// Signals wake the watch at once; it looks at the ranks' progress this often.
constexpr std::chrono::seconds kLookEvery{1};
// A look that comes this much too late means that this process did not run itself meanwhile.
constexpr std::chrono::seconds kSuspended{5};

runtime::TimePoint Now() { return runtime::SystemClock().Now(); }

std::string HowItEnded(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Returns whether SIGTERM or SIGINT came before the deadline.
bool AwaitSignal(const sigset_t& signals, runtime::TimePoint deadline) {
  const auto left = std::max<std::int64_t>(
      0, std::chrono::ceil<std::chrono::nanoseconds>(deadline - Now()).count());
  const timespec pause{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  const int signal = ::sigtimedwait(&signals, nullptr, &pause);
  return signal == SIGTERM || signal == SIGINT;
}

void BecomeRank(const sigset_t& mask, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_Exit(1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace

std::string ToString(FailureCause cause) {
  switch (cause) {
    case FailureCause::kExit:
      return "exit";
    case FailureCause::kSignal:
      return "signal";
    case FailureCause::kStopped:
      return "stopped";
    case FailureCause::kDeadline:
      return "deadline";
    case FailureCause::kStalled:
      return "stalled";
  }
  return "";
}

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals, signal);
  return signals;
}

bool AwaitStopSignal(runtime::TimePoint deadline, int descriptor) {
  const sigset_t signals = WatchedSignals();
  const int pending = ::signalfd(-1, &signals, SFD_CLOEXEC);
  if (pending < 0) return AwaitSignal(signals, deadline);
  std::array<pollfd, 2> items = {{{pending, POLLIN, 0}, {descriptor, POLLIN, 0}}};
  (void)AwaitEvents(items, deadline, "a signal");
  ::close(pending);
  // Nobody else takes the signals, so this one does not wait.
  return items[0].revents != 0 && AwaitSignal(signals, runtime::TimePoint());
}

RankGroup::RankGroup(NodePlace place, std::uint64_t epoch, const GroupLimits& limits,
                     RankProgress* progress)
    : place_(std::move(place)), epoch_(epoch), limits_(limits), progress_(progress) {}

absl::StatusOr<std::optional<std::int64_t>> RankGroup::Start(const sigset_t& mask) {
  for (std::int64_t rank = 0; rank < place_.local_ranks; ++rank) {
    progress_[rank].call_timeout_ms = 0;
    progress_[rank].calls = 0;
    progress_[rank].failure = absl::StatusCode::kOk;
  }
  RankEnvironment environment{.world_size = place_.world_size, .epoch = epoch_};
  int listener = -1;
  if (place_.master) {
    environment.master_address = place_.master->address;
    environment.master_port = place_.master->port;
    listener = place_.master->listener;
  } else {
    SHOAL_ASSIGN_OR_RETURN(listener, Listen(environment.master_address, environment.master_port));
  }
  const auto close_listener = [&listener] {
    if (listener >= 0) ::close(std::exchange(listener, -1));
  };
  if (place_.first_rank > 0 || place_.world_size == 1) close_listener();
  const pid_t parent = ::getpid();
  for (std::int64_t rank = 0; rank < place_.local_ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      BecomeRank(mask, parent);
      environment.rank = place_.first_rank + rank;
      environment.local_rank = rank;
      environment.master_listener = listener;
      WriteRankEnvironment(environment);
      return rank;
    }
    const int error = errno;
    // No process but rank 0 may hold its listener, which would still answer after rank 0 has
    // closed it.
    close_listener();
    if (child < 0) {
      const std::string reason = ::strerror(error);
      End();
      Watch();
      return runtime::ResourceExhausted("cannot fork rank " + std::to_string(rank) + ": " + reason);
    }
    ranks_.push_back({.pid = child});
  }
  spdlog::info("event=group_started epoch={} local_ranks={}", epoch_, place_.local_ranks);
  return std::nullopt;
}

std::optional<GroupFailure> RankGroup::Watch(GroupOrders* orders) {
  moved_at_ = Now();
  Reap();
  while (AnyRuns()) {
    const runtime::TimePoint next = NextLook(Now());
    if (AwaitStopSignal(next, orders == nullptr ? -1 : orders->descriptor())) {
      asked_to_end_ = true;
      if (orders == nullptr) End();
    }
    if (orders != nullptr) {
      if (const auto grace = orders->Look(asked_to_end_)) End(*grace);
    }
    const runtime::TimePoint now = Now();
    if (now > next + kSuspended) {
      moved_at_ = now;
      for (Rank& rank : ranks_) {
        if (rank.stopped_since) rank.stopped_since = now;
      }
    }
    Reap();
    CheckStopped(now);
    CheckProgress(now);
    if (kill_at_ && now >= *kill_at_) {
      for (Rank& rank : ranks_) Kill(rank);
    }
  }
  return Judge();
}

void RankGroup::Reap() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    int status = 0;
    while (ranks_[rank].running &&
           ::waitpid(ranks_[rank].pid, &status, WNOHANG | WUNTRACED | WCONTINUED) ==
               ranks_[rank].pid) {
      HandleChange(rank, status);
    }
  }
}

void RankGroup::HandleChange(std::size_t index, int status) {
  Rank& rank = ranks_[index];
  if (WIFSTOPPED(status)) {
    rank.stopped_since = Now();
    spdlog::warn("event=rank_stopped epoch={} local_rank={}", epoch_, index);
  } else if (WIFCONTINUED(status)) {
    rank.stopped_since.reset();
  } else {
    // What it wrote before it ended counts, whether or not a look came in time.
    CheckProgress(Now());
    rank.running = false;
    rank.stopped_since.reset();
    rank.status = status;
    if (status == 0) return;
    spdlog::warn("event=rank_ended epoch={} local_rank={} by={}", epoch_, index,
                 runtime::Quoted(HowItEnded(status)));
    // Where all were told to end before, the others keep the time that they got.
    if (!kill_at_) End();
  }
}

void RankGroup::CheckStopped(runtime::TimePoint now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto since = ranks_[rank].stopped_since;
    if (!since || now - *since < limits_.stopped || ranks_[rank].killed) continue;
    if (!verdict_) verdict_ = {FailureCause::kStopped, rank, runtime::kExitFailed};
    Kill(ranks_[rank]);
    End();
  }
}

void RankGroup::CheckProgress(runtime::TimePoint now) {
  const auto limit = StallLimit();
  if (!limit) return;
  if (!joined_since_) joined_since_ = moved_at_ = now;
  std::int64_t calls = 0;
  for (std::int64_t rank = 0; rank < place_.local_ranks; ++rank) calls += progress_[rank].calls;
  if (calls != std::exchange(calls_, calls)) moved_at_ = now;
  if (kill_at_ || now - moved_at_ < *limit) return;
  End();
  verdict_ = {FailureCause::kStalled, behind_, runtime::kExitFailed};
}

void RankGroup::End(runtime::Duration grace) {
  const runtime::TimePoint kill_at = Now() + grace;
  if (kill_at_) {
    kill_at_ = std::min(*kill_at_, kill_at);
    return;
  }
  kill_at_ = kill_at;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (progress_[rank].calls < progress_[behind_].calls) behind_ = rank;
  }
  for (const Rank& rank : ranks_) {
    if (rank.running) ::kill(rank.pid, SIGTERM);
  }
}

void RankGroup::Kill(Rank& rank) {
  if (!rank.running || std::exchange(rank.killed, true)) return;
  ::kill(rank.pid, SIGKILL);
}

bool RankGroup::AnyRuns() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.running; });
}

runtime::TimePoint RankGroup::NextLook(runtime::TimePoint now) const {
  runtime::TimePoint next = now + kLookEvery;
  if (kill_at_ && *kill_at_ > now) next = std::min(next, *kill_at_);
  if (const auto limit = StallLimit()) next = std::min(next, std::max(now, moved_at_ + *limit));
  for (const Rank& rank : ranks_) {
    if (rank.stopped_since && !rank.killed) {
      next = std::min(next, std::max(now, *rank.stopped_since + limits_.stopped));
    }
  }
  return next;
}

std::optional<runtime::Duration> RankGroup::StallLimit() const {
  std::int64_t timeout_ms = 0;
  for (std::int64_t rank = 0; rank < place_.local_ranks; ++rank) {
    const std::int64_t own = progress_[rank].call_timeout_ms;
    if (own == 0) return std::nullopt;
    timeout_ms = std::max(timeout_ms, own);
  }
  return 2 * std::chrono::milliseconds(timeout_ms);
}

std::optional<GroupFailure> RankGroup::Judge() const {
  // The first rank that ended in a way that `fits`, as a failure for `cause`.
  const auto first = [this](FailureCause cause, const auto& fits) -> std::optional<GroupFailure> {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const int status = ranks_[rank].status;
      if (status != 0 && fits(rank)) return GroupFailure{cause, rank, ExitCodeOf(status)};
    }
    return std::nullopt;
  };
  const auto code = [this](std::size_t rank) {
    return WIFEXITED(ranks_[rank].status) ? WEXITSTATUS(ranks_[rank].status) : 0;
  };
  const auto saw = [this](std::size_t rank) { return progress_[rank].failure.load(); };

  if (auto found = first(FailureCause::kExit,
                         [&](std::size_t rank) { return runtime::IsFinalExit(code(rank)); })) {
    return found;
  }
  if (verdict_) return verdict_;
  if (auto found = first(FailureCause::kSignal, [&](std::size_t rank) {
        const int status = ranks_[rank].status;
        const bool sent = ranks_[rank].killed || (kill_at_ && WTERMSIG(status) == SIGTERM);
        return WIFSIGNALED(status) && !sent;
      })) {
    return found;
  }
  // A rank that saw no error of the group failed by itself, and the others saw that.
  if (auto found = first(FailureCause::kExit, [&](std::size_t rank) {
        return code(rank) != 0 && saw(rank) == absl::StatusCode::kOk;
      })) {
    return found;
  }
  if (auto found = first(FailureCause::kDeadline, [&](std::size_t rank) {
        return code(rank) != 0 && saw(rank) == absl::StatusCode::kDeadlineExceeded;
      })) {
    found->rank = behind_;
    return found;
  }
  if (auto found = first(FailureCause::kExit, [&](std::size_t rank) { return code(rank) != 0; })) {
    return found;
  }
  return first(FailureCause::kSignal, [](std::size_t) { return true; });
}

}  // namespace shoal::collectives
