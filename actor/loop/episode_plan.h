// SPDX-License-Identifier: Apache-2.0
// Decides which episodes are played and hears how they ended.
//
// Thread-safe: the loops of an actor share one plan. For every episode that Next hands out, exactly
// one of Finish, Abort, Refuse and GiveUp must be called.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/loop/fault_curriculum.h"
#include "actor/loop/start_sampler.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct EpisodeAssignment {
  EpisodeStart start = {};
  // Episodes of the same group have the same start.
  std::optional<std::uint64_t> group = std::nullopt;
  // The policy that acts, or nothing for the current one.
  std::optional<proto::PolicySelector> policy = std::nullopt;
  // Index into the evaluation's policies.
  std::size_t policy_index = 0;
  // The name of the policy for the report: "current", "uniform", ...
  std::string policy_name = "";
};

struct EpisodeResult {
  EpisodeFacts facts = {};
  double total_reward = 0;
  // The parameter version that chose the last action.
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
};

// Called once, under no lock, when a plan ends: with OK when all episodes were played, otherwise
// with the reason why going on is pointless.
using OnPlanEnd = std::function<void(const absl::Status&)>;

class EpisodePlan {
 public:
  virtual ~EpisodePlan() = default;
  // Returns the next episode, or nothing when this environment may rest.
  virtual std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) = 0;
  // Returns the environment's episode with this number once more, and hands out the later ones
  // again after it; or nothing where the plan cannot know how it began.
  virtual std::optional<EpisodeAssignment> Resume(std::uint64_t environment_id,
                                                  std::uint64_t episode) = 0;
  virtual void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) = 0;
  // The episode was cut off because a server was lost.
  virtual void Abort(const EpisodeAssignment& assignment) = 0;
  // The episode was cut off because inference refused one of its rows. `reason` is what it said.
  virtual void Refuse(const EpisodeAssignment& assignment, const std::string& reason) = 0;
  // The service refuses to begin an episode of `pair`, however often it is asked. The plan hands
  // out no other episode of that pair.
  virtual void GiveUp(const EpisodeAssignment& assignment, const Pair& pair,
                      const std::string& reason) = 0;
};

// A plan without end: each environment plays its episodes 0, 1, 2, ... The sampler, if there is
// one, chooses pair and situation of each, otherwise the environment cycles over the pairs and
// draws situations. A turn that comes to a pair that was given up goes to the next pair that was
// not. When all are given up, the plan ends with INVALID_ARGUMENT. It resumes episodes where
// neither a choice among pairs nor groups nor a curriculum decide about their starts.
class TrainingPlan final : public EpisodePlan {
 public:
  struct Work {
    std::uint64_t first_environment = 0;
    std::size_t environments = 1;
    // The pairs that the environments cycle over, in the same order.
    std::vector<Pair> pairs = {};
    std::optional<StartSampler> sampler = std::nullopt;
    // If above 1, this many episodes that begin one after another, in whichever environments, form
    // a group with one start.
    std::uint64_t group_size = 1;
    // Which share of the worst faults episodes may meet.
    CurriculumOptions curriculum = {};
    // Called with each stage of the curriculum that begins, the first one included, in their order
    // and under a lock.
    std::function<void(std::int64_t)> on_stage = nullptr;
  };

  explicit TrainingPlan(Work work, OnPlanEnd on_end = nullptr);

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<EpisodeAssignment> Resume(std::uint64_t environment_id,
                                          std::uint64_t episode) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Abort(const EpisodeAssignment&) override {}
  void Refuse(const EpisodeAssignment&, const std::string&) override {}
  void GiveUp(const EpisodeAssignment& assignment, const Pair& pair,
              const std::string& reason) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Makes the next episode a member of the present group, or of a new one.
  void JoinGroupLocked(EpisodeAssignment& assignment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ChooseStartLocked(EpisodeStart& start) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::uint64_t first_environment_;
  const std::vector<Pair> pairs_;
  const std::uint64_t group_size_;
  const bool has_curriculum_;
  const std::function<void(std::int64_t)> on_stage_;
  const OnPlanEnd on_end_;
  runtime::Mutex mutex_;
  std::vector<std::uint64_t> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<StartSampler> sampler_ ABSL_GUARDED_BY(mutex_);
  FaultCurriculum curriculum_ ABSL_GUARDED_BY(mutex_);
  // The start of the present group, and the number of its members so far.
  EpisodeStart group_start_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t members_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t groups_ ABSL_GUARDED_BY(mutex_) = 0;
  // Indices of pairs that were given up.
  std::set<std::size_t> given_up_ ABSL_GUARDED_BY(mutex_);
};

// Plays the first episodes of every pair under every policy, and plays an episode again until it
// finishes. An episode has the same start under all policies, whichever environment plays it.
//
// Episodes are handed out in rounds: some of every pair under the first policy, the same of the
// next policy, and then further ones. So a plan that runs out of time has played about as many
// episodes of each policy, and the first policy is never behind.
class EvaluationPlan final : public EpisodePlan {
 public:
  struct Policy {
    std::string name;
    proto::PolicySelector selector;
  };
  struct Work {
    std::vector<Policy> policies;
    std::vector<Pair> pairs;
    // Episodes of each pair under each policy, at most.
    std::uint64_t episodes = 0;
    // A pair is done under a policy after this many episodes whose goal did not hold at their
    // start. 0 means after all of its episodes.
    std::uint64_t counted = 0;
    // When this much time has passed since the first episode, the plan hands out only the first
    // episode of each pair and policy. Zero means no limit.
    runtime::Duration limit = {};
  };
  struct Observer {
    // Called under no lock: once for each finished episode, and for each pair that is given up.
    std::function<void(const EpisodeAssignment&, const EpisodeResult&)> on_result;
    std::function<void(const Pair&, const std::string& reason)> on_given_up;
    // OK when all is played. INVALID_ARGUMENT when all pairs were given up. UNAVAILABLE when a
    // policy was refused kRefusalsAtMost times and no episode of it finished in between, since
    // nobody has its parameters any more.
    OnPlanEnd on_end;
  };
  static constexpr int kRefusalsAtMost = 100;

  // `clock` outlives this.
  EvaluationPlan(Work work, Observer observer, runtime::Clock& clock = runtime::SystemClock());

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  // An evaluation plays an episode again instead.
  std::optional<EpisodeAssignment> Resume(std::uint64_t, std::uint64_t) override {
    return std::nullopt;
  }
  void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Abort(const EpisodeAssignment& assignment) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Refuse(const EpisodeAssignment& assignment, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveUp(const EpisodeAssignment& assignment, const Pair& pair,
              const std::string& reason) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // One pair under one policy.
  struct Series {
    std::size_t policy = 0;
    std::size_t pair = 0;
    // The next new episode, and the episodes that came back unfinished.
    std::uint64_t next = 0;
    std::set<std::uint64_t> returned = {};
    std::uint64_t under_way = 0;
    std::uint64_t counted = 0;
    bool given_up = false;
  };

  Series& SeriesOf(const EpisodeAssignment& assignment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the episode of the series that may be played now, or nothing when it has none.
  std::optional<std::uint64_t> Due(const Series& series) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Series* ChooseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReturnLocked(const EpisodeAssignment& assignment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns how the plan ends, once, when nothing is left to play and no episode is under way.
  std::optional<absl::Status> EndLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const std::optional<absl::Status>& end) const;

  const Work work_;
  const Observer observer_;
  runtime::Clock& clock_;
  runtime::Mutex mutex_;
  std::vector<Series> series_ ABSL_GUARDED_BY(mutex_);
  std::optional<runtime::TimePoint> started_ ABSL_GUARDED_BY(mutex_);
  std::string last_reason_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  // For each policy, its refusals since one of its episodes finished.
  std::map<std::string, int> refusals_ ABSL_GUARDED_BY(mutex_);
};

// Parses "current" (or "learned"), "initial", "uniform", "similarity", or "EPOCH.STEP" for pinned
// parameters. Returns INVALID_ARGUMENT for anything else.
absl::StatusOr<EvaluationPlan::Policy> ParsePolicy(const std::string& text);

}  // namespace shoal::actor
