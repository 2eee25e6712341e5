// SPDX-License-Identifier: Apache-2.0
// One environment's life as rows: episode after episode, what proto/act.proto calls row timing.
//
//   Begin -> FIRST row -> answer -> step -> row -> answer -> ... -> end row, FIRST row -> ...
//
// The end row of an episode and the FIRST row of the next leave together when the environment is in
// process. A row without an observation (TERMINATED, or TRUNCATED where the service was lost) is
// zeros.
//
// A service that is lost is tried again without end. One that refuses to begin an episode is tried
// a few times with the same one; then the plan hears that its pair is given up.
//
// Not thread-safe: its host's thread alone uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "actor/environments/environment.h"
#include "actor/loop/actor_metrics.h"
#include "actor/loop/episode_plan.h"
#include "inference/client/row.h"
#include "platform/runtime/clock.h"

namespace shoal::actor {

class EpisodeDriver {
 public:
  // Whoever carries the rows. Outlives the driver; may be called from any of the driver's methods.
  class Host {
   public:
    virtual ~Host() = default;
    virtual void Ready(EpisodeDriver& driver, inference::client::Row row) = 0;
    // Call Begin after `delay`.
    virtual void BeginLater(EpisodeDriver& driver, std::chrono::milliseconds delay) = 0;
  };

  struct Identity {
    std::uint64_t environment_id = 0;
    std::uint64_t incarnation = 0;
    std::uint32_t policy_id = 0;
    bool evaluate = false;
  };

  // All borrowed; outlive the driver.
  struct Surroundings {
    const EnvironmentSpec& spec;
    EpisodePlan& plan;
    ActorMetrics& metrics;
    Host& host;
    runtime::Clock& clock;
    // Tries to begin an episode that the service refuses, before its pair is given up.
    int reset_attempts = 5;
  };

  EpisodeDriver(Identity identity, std::unique_ptr<Environment> environment,
                Surroundings surroundings);

  // Starts the next episode of the plan, or once more the one that was refused. Nothing while
  // fenced.
  void Begin();
  // Of a row that Ready gave away. kLost is the host's to settle.
  void OnAnswer(const inference::client::Answer& answer);
  // The server forgot this environment: cuts the running episode off and begins another. The host
  // has dropped the rows that were not answered.
  void OnServerRestarted();
  // What the row that Ready gave away waits for now.
  void WaitsFor(Wait reason);

  const Identity& identity() const { return identity_; }
  bool fenced() const { return state_ == State::kFenced; }
  // A Reset or Step is under way: a row will follow without anybody's doing.
  bool busy() const { return state_ == State::kResetting || state_ == State::kStepping; }

 private:
  enum class State : std::uint8_t { kResting, kPausing, kResetting, kRowOut, kStepping, kFenced };

  void OnReset(absl::StatusOr<Transition> transition);
  void OnRefusedStart(const absl::Status& reason);
  void OnStep(absl::StatusOr<Transition> transition);
  void Emit(const Transition& transition, std::uint32_t flags);
  // A row without an observation.
  void EmitEnd(float reward, std::uint32_t flags);
  inference::client::Row NewRow(float reward, std::uint32_t flags);
  void FinishEpisode();
  void AbortEpisode(AbortReason reason);
  void Pause(AbortReason reason);
  // Begins the next episode after a pause that grows with failures in a row.
  void Rest();
  void Enter(State state);

  const Identity identity_;
  const std::unique_ptr<Environment> environment_;
  const Surroundings around_;

  State state_ = State::kResting;
  Wait wait_ = Wait::kMessage;
  runtime::TimePoint since_;
  // The server restarted while a step was under way.
  bool abandoned_ = false;
  std::optional<EpisodeAssignment> assignment_;
  EpisodeResult result_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_episode_id_ = 0;
  // Of the row that asks for an action.
  std::uint64_t awaited_sequence_ = 0;
  int failures_in_a_row_ = 0;
  // Of the assignment, which is kept meanwhile.
  int refused_starts_ = 0;
  std::shared_ptr<const inference::client::CandidateList> catalog_;
};

}  // namespace shoal::actor
