// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/episode_driver.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/log.h"
#include "platform/runtime/tensor.h"

namespace shoal::actor {
namespace {

using inference::client::Answer;
using inference::client::Row;

constexpr std::chrono::milliseconds kMinPause{100};
constexpr std::chrono::milliseconds kMaxPause{2000};

// Trying again helps when a service is lost or busy, but not when it refuses the request.
bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
         absl::IsFailedPrecondition(status) || absl::IsOutOfRange(status) ||
         absl::IsUnimplemented(status);
}

// Returns what a row sends of an observation, whose frame it takes.
std::string BytesOf(Observation& observation, const EnvironmentSpec& spec) {
  const runtime::DType dtype = spec.observation_dtype;
  std::string bytes = std::move(observation.frame);
  if (bytes.empty()) {
    bytes.resize(observation.numeric.size() * runtime::SizeOf(dtype));
    runtime::FromFloats(observation.numeric, dtype, std::as_writable_bytes(std::span(bytes)));
  }
  SHOAL_CHECK(bytes.size() ==
              static_cast<std::size_t>(spec.observation_size()) * runtime::SizeOf(dtype));
  return bytes;
}

}  // namespace

EpisodeDriver::EpisodeDriver(Identity identity, std::unique_ptr<Environment> environment,
                             Surroundings surroundings)
    : identity_(identity),
      environment_(std::move(environment)),
      around_(surroundings),
      since_(around_.clock.Now()) {}

void EpisodeDriver::Begin() {
  if (fenced()) return;
  abandoned_ = false;
  if (again_) next_sequence_ = again_->other_sequence;
  again_.reset();
  if (tells()) {
    ++next_episode_id_;
    Tell();
    return;
  }
  if (!assignment_) {
    assignment_ = around_.plan.Next(identity_.environment_id);
    refused_starts_ = 0;
  }
  if (!assignment_) {
    Enter(State::kResting);
    return;
  }
  Reset();
}

void EpisodeDriver::Reset() {
  Enter(State::kResetting);
  environment_->Reset(assignment_->start, [this](absl::StatusOr<Transition> transition) {
    OnReset(std::move(transition));
  });
}

void EpisodeDriver::OnReset(absl::StatusOr<Transition> transition) {
  if (fenced()) return;
  if (!transition.ok()) {
    if (failures_in_a_row_ == 0) {
      spdlog::warn("event=reset_failed environment={} reason={}", identity_.environment_id,
                   runtime::Quoted(runtime::Message(transition.status())));
    }
    if (IsRefusal(transition.status())) {
      OnRefusedStart(transition.status());
    } else {
      Pause(AbortReason::kEnvironmentLost);
    }
    return;
  }
  failures_in_a_row_ = 0;
  result_ = {};
  steps_ = 0;
  achieved_.clear();
  if (acts_again()) {
    ActAgain();
    return;
  }
  // In training the number tells which episode it is, so that it can be begun again.
  const bool tells_start =
      !identity_.evaluate && !assignment_->group && !around_.hindsight.enabled();
  next_episode_id_ = tells_start ? assignment_->start.episode + 1 : next_episode_id_ + 1;
  Emit(*std::move(transition), proto::ROW_FLAG_FIRST);
}

void EpisodeDriver::OnRefusedStart(const absl::Status& reason) {
  if (++refused_starts_ < around_.reset_attempts) {
    Rest();
    return;
  }
  failures_in_a_row_ = 0;
  const EpisodeFacts facts = environment_->facts();
  around_.metrics.CountAbort(AbortReason::kStartRefused);
  around_.plan.GiveUp(*std::exchange(assignment_, std::nullopt),
                      {.goal = facts.goal, .capture = facts.capture}, runtime::Message(reason));
  Begin();
}

void EpisodeDriver::OnAnswer(const Answer& answer) {
  if (answer.outcome == Answer::Outcome::kFenced) {
    if (fenced()) return;
    if (assignment_) around_.plan.Abort(*assignment_);
    assignment_.reset();
    relabelled_.clear();
    around_.metrics.CountFenced();
    Enter(State::kFenced);
    return;
  }
  if (answer.outcome == Answer::Outcome::kInvalid) {
    spdlog::warn("event=row_refused environment={} sequence={} reason={}", identity_.environment_id,
                 answer.sequence, runtime::Quoted(answer.error));
  }
  if (state_ != State::kRowOut || answer.sequence != awaited_sequence_) return;
  if (answer.outcome == Answer::Outcome::kInvalid) {
    around_.metrics.CountAbort(AbortReason::kRowRefused);
    if (tells()) {
      relabelled_.clear();
    } else {
      around_.plan.Refuse(*std::exchange(assignment_, std::nullopt), answer.error);
    }
    Rest();
    return;
  }
  if (answer.outcome == Answer::Outcome::kResumed) {
    Resume(*answer.resumed);
    return;
  }
  if (answer.outcome != Answer::Outcome::kAction) return;
  if (tells()) {
    Tell();
    return;
  }
  result_.policy_epoch = answer.policy_epoch;
  result_.policy_step = answer.policy_step;
  Act(answer.action, answer.box_action);
}

void EpisodeDriver::Act(std::int64_t action, std::span<const float> box_action) {
  Enter(State::kStepping);
  auto on_step = [this](absl::StatusOr<Transition> transition) { OnStep(std::move(transition)); };
  if (box_action.empty()) {
    environment_->Step(action, std::move(on_step));
  } else {
    environment_->StepBox(box_action, std::move(on_step));
  }
}

void EpisodeDriver::Resume(const inference::client::ResumedEpisode& episode) {
  relabelled_.clear();
  if (assignment_) AbortEpisode(AbortReason::kServerRestarted);
  identity_.incarnation = episode.incarnation;
  // What an environment sends that cannot go on.
  const std::uint64_t other_sequence = std::max(next_sequence_, episode.next_sequence + 1);
  next_sequence_ = episode.next_sequence;
  next_episode_id_ = episode.episode_id;
  const std::size_t width = around_.spec.action_low.size();
  const std::size_t actions =
      width == 0 ? episode.actions.size() : episode.box_actions.size() / width;
  // With hindsight, episodes that are told again have numbers, too.
  if (actions > 0 && episode.episode_id > 0 && !around_.hindsight.enabled()) {
    assignment_ = around_.plan.Resume(identity_.environment_id, episode.episode_id - 1);
  }
  if (!assignment_) {
    spdlog::warn("event=episode_not_resumed environment={} episode={}", identity_.environment_id,
                 episode.episode_id);
    next_sequence_ = other_sequence;
    Begin();
    return;
  }
  refused_starts_ = 0;
  again_ = Again{.episode = episode, .actions = actions, .other_sequence = other_sequence};
  Reset();
}

void EpisodeDriver::ActAgain() {
  // The step that is answered from within goes on in the loop below, however many there are.
  if (again_->stepping) {
    again_->answered = true;
    return;
  }
  const std::size_t width = around_.spec.action_low.size();
  do {
    again_->answered = false;
    again_->stepping = true;
    const std::size_t next = again_->taken++;
    if (width == 0) {
      Act(again_->episode.actions[next], {});
    } else {
      const std::span<const float> boxes = again_->episode.box_actions;
      const std::vector<float> action(
          boxes.begin() + static_cast<std::ptrdiff_t>(next * width),
          boxes.begin() + static_cast<std::ptrdiff_t>((next + 1) * width));
      Act(0, action);
    }
    if (!acts_again()) return;
    again_->stepping = false;
  } while (again_->answered);
}

void EpisodeDriver::OnStep(absl::StatusOr<Transition> transition) {
  if (fenced()) return;
  if (abandoned_) {
    AbortEpisode(AbortReason::kServerRestarted);
    Begin();
    return;
  }
  if (!transition.ok()) {
    if (failures_in_a_row_ == 0) {
      spdlog::warn("event=step_failed environment={} reason={}", identity_.environment_id,
                   runtime::Quoted(runtime::Message(transition.status())));
    }
    EmitEnd(0, proto::ROW_FLAG_TRUNCATED);
    Pause(AbortReason::kEnvironmentLost);
    return;
  }
  if (!acts_again()) around_.metrics.CountStep();
  NoteAchieved(*transition);
  result_.total_reward += static_cast<double>(transition->reward);
  if (acts_again()) {
    const bool more = again_->taken < again_->actions;
    if (more && transition->end == End::kNone) {
      ActAgain();
      return;
    }
    if (more) {
      spdlog::warn("event=episode_not_resumed environment={} episode={} reason=\"it ended early\"",
                   identity_.environment_id, next_episode_id_);
      AbortEpisode(AbortReason::kServerRestarted);
      Begin();
      return;
    }
    again_.reset();
  }
  switch (transition->end) {
    case End::kNone:
      Emit(*std::move(transition), proto::ROW_FLAG_NONE);
      return;
    case End::kTerminated:
      EmitEnd(transition->reward, proto::ROW_FLAG_TERMINATED);
      break;
    case End::kTruncated:
      Emit(*std::move(transition), proto::ROW_FLAG_TRUNCATED | proto::ROW_FLAG_FINAL);
      break;
  }
  FinishEpisode();
  Relabel();
  Begin();
}

void EpisodeDriver::NoteAchieved(const Transition& transition) {
  ++steps_;
  for (const AchievedGoal& achieved : transition.achieved) {
    achieved_.push_back({.step = steps_, .goal = achieved.goal});
  }
  around_.metrics.CountAchieved(transition.achieved.size());
}

void EpisodeDriver::Relabel() {
  if (achieved_.empty() || !around_.hindsight.enabled()) return;
  const HindsightDraws draws{.seed = around_.hindsight_seed,
                             .environment = identity_.environment_id,
                             .episode = next_episode_id_};
  for (const std::uint64_t goal : ChooseGoals(around_.hindsight, achieved_, draws)) {
    absl::StatusOr<RelabelledEpisode> episode = environment_->Relabel(goal);
    around_.metrics.CountRelabelled(episode.ok() ? episode->actions.size() : 0);
    if (episode.ok()) relabelled_.push_back(*std::move(episode));
  }
  told_ = 0;
}

void EpisodeDriver::Tell() {
  RelabelledEpisode& episode = relabelled_.front();
  Transition& transition = episode.transitions[told_];
  if (told_ == episode.actions.size()) {
    EmitEnd(transition.reward, proto::ROW_FLAG_TERMINATED);
    relabelled_.pop_front();
    told_ = 0;
    Begin();
    return;
  }
  const std::uint32_t flags = told_ == 0 ? proto::ROW_FLAG_FIRST : proto::ROW_FLAG_NONE;
  ++told_;
  Emit(std::move(transition), flags);
}

void EpisodeDriver::OnServerRestarted() {
  switch (state_) {
    case State::kStepping:
      abandoned_ = true;
      return;
    case State::kRowOut:
      if (tells()) {
        relabelled_.clear();
      } else {
        AbortEpisode(AbortReason::kServerRestarted);
      }
      Begin();
      return;
    case State::kResting:
    case State::kPausing:
    case State::kResetting:
    case State::kFenced:
      return;
  }
}

void EpisodeDriver::Emit(Transition&& transition, std::uint32_t flags) {
  Row row = NewRow(transition.reward, flags);
  row.observation = BytesOf(transition.observation, around_.spec);
  row.contents = std::move(transition.observation.contents);
  catalog_ = std::move(transition.observation.catalog);
  row.catalog = catalog_;
  row.marks = std::move(transition.observation.marks);
  if (tells()) row.forced_action = relabelled_.front().actions[told_ - 1];
  awaited_sequence_ = row.sequence;
  Enter(State::kRowOut);
  around_.host.Ready(*this, std::move(row));
}

void EpisodeDriver::EmitEnd(float reward, std::uint32_t flags) {
  Row row = NewRow(reward, flags);
  row.contents.resize(around_.spec.content_fields.size());
  row.catalog = catalog_;
  around_.host.Ready(*this, std::move(row));
}

Row EpisodeDriver::NewRow(float reward, std::uint32_t flags) {
  Row row;
  row.environment_id = identity_.environment_id;
  row.incarnation = identity_.incarnation;
  row.sequence = next_sequence_++;
  row.episode_id = next_episode_id_;
  row.policy_id = identity_.policy_id;
  row.evaluate = identity_.evaluate;
  row.reward = reward;
  row.flags = flags;
  if (tells()) {
    row.relabelled = true;
  } else {
    row.policy = assignment_->policy;
    row.group_id = assignment_->group;
  }
  return row;
}

void EpisodeDriver::FinishEpisode() {
  result_.facts = environment_->facts();
  around_.metrics.CountEpisode(result_);
  around_.plan.Finish(*assignment_, result_);
  assignment_.reset();
}

void EpisodeDriver::AbortEpisode(AbortReason reason) {
  around_.metrics.CountAbort(reason);
  around_.plan.Abort(*assignment_);
  assignment_.reset();
}

void EpisodeDriver::Pause(AbortReason reason) {
  AbortEpisode(reason);
  Rest();
}

void EpisodeDriver::Rest() {
  Enter(State::kPausing);
  const int doublings = std::min(failures_in_a_row_++, 5);
  around_.host.BeginLater(*this, std::min(kMinPause * (1 << doublings), kMaxPause));
}

void EpisodeDriver::WaitsFor(Wait reason) {
  if (state_ != State::kRowOut || wait_ == reason) return;
  Enter(State::kRowOut);
  wait_ = reason;
}

void EpisodeDriver::Enter(State state) {
  const runtime::TimePoint now = around_.clock.Now();
  const double seconds = std::chrono::duration<double>(now - since_).count();
  switch (state_) {
    case State::kPausing:
      around_.metrics.CountWait(Wait::kBackoff, seconds);
      break;
    case State::kResetting:
    case State::kStepping:
      around_.metrics.CountWait(Wait::kEnvironment, seconds);
      break;
    case State::kRowOut:
      around_.metrics.CountWait(wait_, seconds);
      break;
    case State::kResting:
    case State::kFenced:
      break;
  }
  state_ = state;
  since_ = now;
  wait_ = Wait::kMessage;
}

}  // namespace shoal::actor
