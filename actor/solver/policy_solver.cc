// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/policy_solver.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actor/environments/environment_source.h"
#include "actor/environments/redfish_environment.h"
#include "actor/loop/actor_metrics.h"
#include "actor/loop/environment_loop.h"
#include "actor/loop/episode_plan.h"
#include "actor/solver/twin_service.h"
#include "operate/shortening.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "redfish/catalog/catalog.h"

namespace shoal::actor {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{200};

// Environments over one twin, of which a loop makes a single one.
class TwinSource final : public EnvironmentSource {
 public:
  TwinSource(std::shared_ptr<const RedfishTasks> tasks, operate::Twin& twin)
      : tasks_(std::move(tasks)), twin_(twin) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return tasks_->pairs; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t) const override {
    const auto cache = std::make_shared<ResponseCache>(
        static_cast<std::size_t>(tasks_->options.response_cache_bytes));
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(
        std::make_unique<RedfishEnvironment>(tasks_, std::make_unique<TwinService>(twin_), cache));
    return environments;
  }

 private:
  const std::shared_ptr<const RedfishTasks> tasks_;
  operate::Twin& twin_;
  const EnvironmentSpec spec_ = RedfishEnvironment::Spec();
};

// Plays one episode after the other until one is accepted. Thread-safe.
class AttemptPlan final : public EpisodePlan {
 public:
  // Judges the twin after an episode that has reached the goal. It runs on the loop's thread.
  using Accept = std::function<absl::Status()>;

  AttemptPlan(std::uint64_t attempts, Accept accept)
      : attempts_(attempts), accept_(std::move(accept)) {}

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (end_) return std::nullopt;
    return EpisodeAssignment{
        .start = {
            .environment_id = environment_id, .episode = finished_, .pair = 0, .evaluation = true}};
  }

  void Finish(const EpisodeAssignment&, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::Status judged = runtime::FailedPrecondition(
        absl::StrCat("after ", result.facts.steps, " requests the goal did not hold"));
    if (result.facts.success) judged = accept_();
    const runtime::MutexLock lock(mutex_);
    ++finished_;
    if (judged.ok()) {
      EndLocked(absl::OkStatus());
    } else if (finished_ == attempts_) {
      EndLocked(runtime::FailedPrecondition(absl::StrCat(
          "the policy made ", attempts_, " attempts; the last one: ", runtime::Message(judged))));
    }
  }

  // The episode is played again.
  void Abort(const EpisodeAssignment&) override {}
  void Refuse(const EpisodeAssignment&, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    End(runtime::FailedPrecondition("inference refuses the twin's observations: " + reason));
  }
  void GiveUp(const EpisodeAssignment&, const Pair&, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    End(runtime::FailedPrecondition("the twin cannot begin: " + reason));
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

  const std::uint64_t attempts_;
  const Accept accept_;
  runtime::Mutex mutex_;
  runtime::CondVar ended_;
  std::uint64_t finished_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

// Leaves the twin with the requests that are needed, if they have no side effects.
absl::Status Accept(const redfish::Watch& watch, operate::Twin& twin) {
  const auto shortened = operate::Shorten(twin.TakeSteps(), watch.predicate(), twin);
  SHOAL_RETURN_IF_ERROR(shortened.status());
  const std::int64_t effects = twin.Evaluate().collateral;
  if (effects == 0) return absl::OkStatus();
  return runtime::FailedPrecondition(
      absl::StrCat("the goal was reached with ", effects, " side effects"));
}

// Returns episodes that ask for the same in different sentences.
std::vector<redfish::Episode> Attempts(const redfish::AppliedGoal& goal,
                                       const redfish::Episode& episode, std::uint64_t count) {
  // Some goals have few sentences, so some numbers repeat one.
  constexpr std::uint64_t kDrawsPerSentence = 8;
  std::vector<redfish::Episode> episodes;
  std::set<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    if (sentence.empty() || !sentences.insert(sentence).second) return;
    episodes.push_back(episode);
    episodes.back().text = sentence;
  };
  add(episode.text);
  for (std::uint64_t number = 0; number < count * kDrawsPerSentence && episodes.size() < count;
       ++number) {
    add(goal.SentenceOf(episode, number));
  }
  return episodes;
}

}  // namespace

PolicySolver::PolicySolver(PolicySolverOptions options,
                           std::shared_ptr<const redfish::Schema> schema, Check check)
    : options_(std::move(options)), schema_(std::move(schema)), check_(std::move(check)) {}

absl::Status PolicySolver::Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                                 operate::Twin& twin) {
  auto tasks = std::make_shared<RedfishTasks>();
  tasks->options = options_.environment.undisturbed();
  const std::string& name = twin.capture().name();
  tasks->pairs = {{.goal = goal.goal().name(), .capture = name}};
  tasks->limits = {options_.environment.episode_limit};
  SHOAL_ASSIGN_OR_RETURN(auto catalog, redfish::Catalog::Build(twin.capture(), *schema_));
  tasks->catalogs[name] = MakeServiceCatalog(std::move(catalog), schema_);
  tasks->given = Attempts(goal, episode, options_.attempts);
  if (tasks->given.empty()) {
    return runtime::FailedPrecondition("goal " + goal.goal().name() + " has no sentence");
  }
  AttemptPlan plan(tasks->given.size(),
                   [&episode, &twin] { return Accept(episode.watch.value(), twin); });
  runtime::Metrics metrics;
  ActorMetrics actor_metrics(metrics);
  const TwinSource source(std::move(tasks), twin);
  EnvironmentLoop loop({.first_environment = kEvaluationEnvironments,
                        .environments = 1,
                        .incarnation = runtime::SystemClock().UnixNanos(),
                        .evaluate = true,
                        .inference = {options_.inference},
                        .client_name = absl::StrCat("solver pid=", ::getpid())},
                       source, plan, actor_metrics);
  loop.Start([&plan](const absl::Status& status) { plan.End(status); });
  runtime::Clock& clock = runtime::SystemClock();
  const runtime::TimePoint deadline = clock.Now() + options_.patience;
  std::optional<absl::Status> end;
  while (!(end = plan.AwaitEnd(clock, clock.Now() + kBetweenChecks))) {
    const absl::Status checked = check_();
    if (!checked.ok()) plan.End(checked);
    if (clock.Now() > deadline) {
      plan.End(absl::DeadlineExceededError("the policy did not finish its attempts in time"));
    }
  }
  loop.Stop();
  return *std::move(end);
}

}  // namespace shoal::actor
