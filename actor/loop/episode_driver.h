// SPDX-License-Identifier: Apache-2.0
// Plays one environment, episode after episode, and turns it into rows as the row timing of
// proto/act.proto asks.
//
//   Begin -> FIRST row -> answer -> step -> row -> answer -> ... -> end row, FIRST row -> ...
//
// The end row of an episode and the FIRST row of the next leave together when the environment is in
// process. A row without an observation (TERMINATED, or TRUNCATED where the service was lost) has
// zeros in its place.
//
// The driver tries a lost service again without end. When a service refuses to begin an episode,
// the driver tries the same episode a few times and then reports to the plan that its pair is given
// up.
//
// With hindsight an episode that has ended is told again before the next begins, under goals that
// it achieved. Each telling is an episode of rows like any other, whose actions are forced and
// which nobody plays: the plan, the results and the count of steps know nothing of it.
//
// An episode that inference goes on with after a restart is begun again and its actions are taken
// again, without rows, up to the one after which the server wants a row.
//
// Not thread-safe: only the host's thread uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/loop/actor_metrics.h"
#include "actor/loop/episode_plan.h"
#include "actor/loop/hindsight.h"
#include "inference/client/row.h"
#include "platform/runtime/clock.h"

namespace shoal::actor {

class EpisodeDriver {
 public:
  // The owner of the driver, which sends the rows. It outlives the driver and may be called from
  // any of the driver's methods.
  class Host {
   public:
    virtual ~Host() = default;
    virtual void Ready(EpisodeDriver& driver, inference::client::Row row) = 0;
    // Must call Begin after `delay`.
    virtual void BeginLater(EpisodeDriver& driver, std::chrono::milliseconds delay) = 0;
  };

  struct Identity {
    std::uint64_t environment_id = 0;
    std::uint64_t incarnation = 0;
    std::uint32_t policy_id = 0;
    bool evaluate = false;
  };

  // The driver borrows these. All of them outlive it.
  struct Surroundings {
    const EnvironmentSpec& spec;
    EpisodePlan& plan;
    ActorMetrics& metrics;
    Host& host;
    runtime::Clock& clock;
    // How often the driver tries to begin an episode that the service refuses before it gives the
    // pair up.
    int reset_attempts = 5;
    HindsightOptions hindsight = {};
    // The seed of the choice of goals.
    std::uint64_t hindsight_seed = 0;
  };

  EpisodeDriver(Identity identity, std::unique_ptr<Environment> environment,
                Surroundings surroundings);

  // Starts the next episode: one to be told again, or that of the plan, or the one that was
  // refused. Does nothing once the environment is fenced.
  void Begin();
  // Takes the answer to a row that was passed to Ready. The host must handle kLost itself.
  void OnAnswer(const inference::client::Answer& answer);
  // The server forgot this environment: the driver cuts the running episode off and begins another.
  // REQUIRES: the host has dropped the rows that were not answered.
  void OnServerRestarted();
  // Says what the row that was passed to Ready waits for now.
  void WaitsFor(Wait reason);

  const Identity& identity() const { return identity_; }
  bool fenced() const { return state_ == State::kFenced; }
  // Whether a Reset or Step is under way, so that a row will follow by itself.
  bool busy() const { return state_ == State::kResetting || state_ == State::kStepping; }

 private:
  enum class State : std::uint8_t { kResting, kPausing, kResetting, kRowOut, kStepping, kFenced };

  void Resume(const inference::client::ResumedEpisode& episode);
  // Begins the assignment's episode.
  void Reset();
  void OnReset(absl::StatusOr<Transition> transition);
  void OnRefusedStart(const absl::Status& reason);
  void Act(std::int64_t action, std::span<const float> box_action);
  // Takes the next ones of the actions that are taken again, as long as the environment answers at
  // once.
  void ActAgain();
  bool acts_again() const { return again_.has_value(); }
  void OnStep(absl::StatusOr<Transition> transition);
  // Notes the goals that the step before achieved.
  void NoteAchieved(const Transition& transition);
  // Makes the episodes that tell the last one again.
  void Relabel();
  // Sends the next row of the episode that is told again.
  void Tell();
  bool tells() const { return !relabelled_.empty(); }
  void Emit(Transition&& transition, std::uint32_t flags);
  // Sends a row without an observation.
  void EmitEnd(float reward, std::uint32_t flags);
  inference::client::Row NewRow(float reward, std::uint32_t flags);
  void FinishEpisode();
  void AbortEpisode(AbortReason reason);
  void Pause(AbortReason reason);
  // Calls Begin after a pause that doubles with each failure in a row, up to a limit.
  void Rest();
  void Enter(State state);

  // The actions of an episode that are taken again.
  struct Again {
    inference::client::ResumedEpisode episode;
    std::size_t actions = 0;
    // The sequence of the next row if the episode cannot go on.
    std::uint64_t other_sequence = 0;
    std::size_t taken = 0;
    // Whether ActAgain waits for a step, and whether that has been answered from within.
    bool stepping = false;
    bool answered = false;
  };

  Identity identity_;
  const std::unique_ptr<Environment> environment_;
  const Surroundings around_;

  State state_ = State::kResting;
  Wait wait_ = Wait::kMessage;
  runtime::TimePoint since_;
  // Whether the server restarted while a step was under way.
  bool abandoned_ = false;
  std::optional<EpisodeAssignment> assignment_;
  EpisodeResult result_;
  // How many steps the running episode has taken, and what they achieved.
  std::size_t steps_ = 0;
  std::vector<Achievement> achieved_;
  // The episodes still to be told again, and how many rows of the first have been sent.
  std::deque<RelabelledEpisode> relabelled_;
  std::size_t told_ = 0;
  std::optional<Again> again_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_episode_id_ = 0;
  // The sequence number of the row that asks for an action.
  std::uint64_t awaited_sequence_ = 0;
  int failures_in_a_row_ = 0;
  // How often the assignment was refused. It is kept until it begins or is given up.
  int refused_starts_ = 0;
  std::shared_ptr<const inference::client::CandidateList> catalog_;
};

}  // namespace shoal::actor
