// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_supervisor.h"

#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/program.h"

namespace shoal::collectives {

RankSupervisor::RankSupervisor(NodePlace place, const SupervisionOptions& options)
    : place_(std::move(place)),
      options_(options),
      restarts_(options.max_restarts, options.min_back_off, options.max_back_off) {}

absl::StatusOr<std::optional<int>> RankSupervisor::Run() {
  SHOAL_ASSIGN_OR_RETURN(progress_, MapRankProgress(place_.local_ranks));
  return WithWatchedSignalsBlocked([this](const sigset_t& mask) { return RunGroups(mask); });
}

absl::StatusOr<std::optional<int>> RankSupervisor::RunGroups(const sigset_t& mask) {
  runtime::Clock& clock = runtime::SystemClock();
  for (;;) {
    epoch_ = place_.master ? place_.master->epoch : NextEpoch(epoch_, clock);
    RankGroup group(place_, epoch_, options_.limits, progress_);
    SHOAL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> rank, group.Start(mask));
    if (rank) {
      own_progress_ = progress_ + *rank;
      return std::nullopt;
    }
    const std::optional<GroupFailure> failure = group.Watch();
    if (!failure) return 0;
    if (group.asked_to_end() || !MayRestart(group, *failure)) return failure->exit_code;
    const runtime::TimePoint restart_at = clock.Now() + back_off_;
    while (clock.Now() < restart_at) {
      if (AwaitStopSignal(restart_at)) return options_.stop_code;
    }
  }
}

bool RankSupervisor::MayRestart(const RankGroup& group, const GroupFailure& failure) {
  const auto joined = group.joined_since();
  ever_joined_ = ever_joined_ || joined;
  if (joined && runtime::SystemClock().Now() - *joined >= options_.settled_after) {
    restarts_.Restore();
  }
  const std::string cause = ToString(failure.cause);
  ++failures_[cause];
  if (const auto reason = Hopeless(failure)) {
    spdlog::error("event=group_given_up cause={} local_rank={} exit_code={} reason={}", cause,
                  failure.rank, failure.exit_code, runtime::Quoted(*reason));
    return false;
  }
  back_off_ = restarts_.Take();
  spdlog::warn(
      "event=group_restarts cause={} local_rank={} exit_code={} restart={} of={} back_off_ms={}",
      cause, failure.rank, failure.exit_code, restarts_.in_a_row(), options_.max_restarts,
      std::chrono::ceil<std::chrono::milliseconds>(back_off_).count());
  return true;
}

std::optional<std::string> RankSupervisor::Hopeless(const GroupFailure& failure) const {
  if (failure.cause == FailureCause::kExit) {
    if (runtime::IsFinalExit(failure.exit_code)) {
      return "no restart helps after this exit code";
    }
    if (!ever_joined_) return "the ranks have never joined";
  }
  if (place_.master) return "the ranks of the other nodes would have to start again, too";
  if (!restarts_.spent()) return std::nullopt;
  return "it was started again " + std::to_string(restarts_.in_a_row()) + " times in vain";
}

}  // namespace shoal::collectives
