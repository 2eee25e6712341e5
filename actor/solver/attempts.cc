// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/attempts.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "actor/loop/actor_metrics.h"
#include "actor/loop/environment_loop.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"

namespace shoal::actor {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{200};

// Thread-safe.
class AttemptPlan final : public EpisodePlan {
 public:
  AttemptPlan(const AttemptOptions& options, const JudgeAttempt& judge)
      : options_(options), judge_(judge) {}

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (end_) return std::nullopt;
    return EpisodeAssignment{.start = {.environment_id = environment_id,
                                       .episode = finished_,
                                       .pair = 0,
                                       .evaluation = options_.greedy}};
  }

  // An attempt that was cut off is played again instead.
  std::optional<EpisodeAssignment> Resume(std::uint64_t, std::uint64_t) override {
    return std::nullopt;
  }

  void Finish(const EpisodeAssignment&, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Status judged = judge_(result);
    const runtime::MutexLock lock(mutex_);
    ++finished_;
    if (judged.ok()) {
      EndLocked(absl::OkStatus());
    } else if (finished_ == options_.attempts) {
      EndLocked(runtime::FailedPrecondition(
          absl::StrCat("the policy made ", options_.attempts,
                       " attempts; the last one: ", runtime::Message(judged))));
    }
  }

  // The episode is played again.
  void Abort(const EpisodeAssignment&) override {}
  void Refuse(const EpisodeAssignment&, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    End(runtime::FailedPrecondition("inference refuses the observations: " + reason));
  }
  void GiveUp(const EpisodeAssignment&, const Pair&, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    End(runtime::FailedPrecondition("no episode can begin: " + reason));
  }

  // Ends the plan, unless it has ended before.
  void End(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    EndLocked(std::move(status));
  }
  // Returns how the plan ended, or nothing when it has not ended by `until`.
  std::optional<absl::Status> AwaitEnd(runtime::Clock& clock, runtime::TimePoint until)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    while (!end_) {
      if (!clock.WaitUntil(ended_, mutex_, until)) break;
    }
    return end_;
  }

 private:
  void EndLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!end_) end_ = std::move(status);
    ended_.NotifyAll();
  }

  const AttemptOptions& options_;
  const JudgeAttempt& judge_;
  runtime::Mutex mutex_;
  runtime::CondVar ended_;
  std::uint64_t finished_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::Status PlayAttempts(const AttemptOptions& options, const EnvironmentSource& source,
                          const JudgeAttempt& judge, const CheckAttempts& check) {
  AttemptPlan plan(options, judge);
  runtime::Metrics metrics;
  ActorMetrics actor_metrics(metrics);
  EnvironmentLoop loop({.first_environment = kEvaluationEnvironments,
                        .environments = 1,
                        .incarnation = runtime::SystemClock().UnixNanos(),
                        .evaluate = options.greedy,
                        .inference = transport::AddressList({options.inference}),
                        .client_name = options.client_name},
                       source, plan, actor_metrics);
  loop.Start([&plan](const absl::Status& status) { plan.End(status); });
  runtime::Clock& clock = runtime::SystemClock();
  const runtime::TimePoint deadline = clock.Now() + options.patience;
  std::optional<absl::Status> end;
  while (!(end = plan.AwaitEnd(clock, clock.Now() + kBetweenChecks))) {
    const absl::Status checked = check();
    if (!checked.ok()) plan.End(checked);
    if (clock.Now() > deadline) {
      plan.End(absl::DeadlineExceededError("the policy did not finish its attempts in time"));
    }
  }
  loop.Stop();
  return *std::move(end);
}

}  // namespace shoal::actor
