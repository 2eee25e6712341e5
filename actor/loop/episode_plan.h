// SPDX-License-Identifier: Apache-2.0
// Which episodes are played, and what became of them.
//
// Thread-safe: the loops of an actor share one plan. An episode that Next handed out ends in
// exactly one call of Finish, Abort or Refuse.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/loop/pair_sampler.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

// Environments of evaluations, and the starts they draw, have this bit: they never meet those of
// training, nor their seeds.
inline constexpr std::uint64_t kEvaluationEnvironments = std::uint64_t{1} << 63;

struct EpisodeAssignment {
  EpisodeStart start = {};
  // Nothing: the current policy.
  std::optional<proto::PolicySelector> policy = std::nullopt;
  // "current", "uniform", ... for the report.
  std::string policy_name = "";
};

struct EpisodeResult {
  EpisodeFacts facts = {};
  double total_reward = 0;
  // The version that took the last action.
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
};

class EpisodePlan {
 public:
  virtual ~EpisodePlan() = default;
  // Nothing: this environment may rest.
  virtual std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) = 0;
  virtual void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) = 0;
  // It was cut off before its end: a server was lost.
  virtual void Abort(const EpisodeAssignment& assignment) = 0;
  // It was cut off because inference would not answer a row; `reason` is what it said.
  virtual void Refuse(const EpisodeAssignment& assignment, const std::string& reason) = 0;
};

// Endless: each environment plays its episodes 0, 1, 2, ..., of the sampler's pairs where there is
// one.
class TrainingPlan final : public EpisodePlan {
 public:
  TrainingPlan(std::uint64_t first_environment, std::size_t environments,
               std::optional<PairSampler> sampler = std::nullopt)
      : first_environment_(first_environment),
        next_(environments, 0),
        sampler_(std::move(sampler)) {}

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Abort(const EpisodeAssignment&) override {}
  void Refuse(const EpisodeAssignment&, const std::string&) override {}

 private:
  const std::uint64_t first_environment_;
  runtime::Mutex mutex_;
  std::vector<std::uint64_t> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<PairSampler> sampler_ ABSL_GUARDED_BY(mutex_);
};

// Exactly the episodes 0..episodes-1 of every pair under every policy, each until it was finished.
// The same episode starts alike for all policies and whichever environment plays it.
class EvaluationPlan final : public EpisodePlan {
 public:
  struct Policy {
    std::string name;
    proto::PolicySelector selector;
  };
  struct Work {
    std::vector<Policy> policies;
    std::vector<Pair> pairs;
    std::uint64_t episodes = 0;
  };
  // Called under no lock: once for each finished episode; and once at the end, with OK when all are
  // finished, with NOT_FOUND when a policy was refused kRefusalsAtMost times and never acted in
  // between: nobody has its parameters any more.
  using OnResult = std::function<void(const EpisodeAssignment&, const EpisodeResult&)>;
  using OnEnd = std::function<void(const absl::Status&)>;
  static constexpr int kRefusalsAtMost = 100;

  EvaluationPlan(Work work, OnResult on_result, OnEnd on_end);

  std::optional<EpisodeAssignment> Next(std::uint64_t environment_id) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Abort(const EpisodeAssignment& assignment) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Refuse(const EpisodeAssignment& assignment, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const OnResult on_result_;
  const OnEnd on_end_;
  runtime::Mutex mutex_;
  std::deque<EpisodeAssignment> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;
  // By policy, since one of its episodes was finished.
  std::map<std::string, int> refusals_ ABSL_GUARDED_BY(mutex_);
};

// "current" (or "learned"), "initial", "uniform", "similarity", or "EPOCH.STEP" for pinned
// parameters. INVALID_ARGUMENT for anything else.
absl::StatusOr<EvaluationPlan::Policy> ParsePolicy(const std::string& text);

}  // namespace shoal::actor
