// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/episode_plan.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

bool ParseNumber(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Episodes of one pair under one policy before the next policy's turn: enough that most batches
// have one policy, few enough that policies stay even.
constexpr std::uint64_t kRoundEpisodes = 10;

void LogGivenUp(const Pair& pair, const std::string& reason) {
  spdlog::warn("event=pair_given_up goal={} capture={} reason={}", runtime::Quoted(pair.goal),
               runtime::Quoted(pair.capture), runtime::Quoted(reason));
}

absl::Status NoneCanBegin(std::size_t pairs, const std::string& reason) {
  return runtime::InvalidArgument("no episode can begin on any of " + std::to_string(pairs) +
                                  " pairs of goal and capture; the last one: " + reason);
}

}  // namespace

TrainingPlan::TrainingPlan(Work work, OnPlanEnd on_end)
    : first_environment_(work.first_environment),
      pairs_(std::move(work.pairs)),
      group_size_(work.group_size),
      has_curriculum_(work.curriculum.stages > 0),
      on_stage_(std::move(work.on_stage)),
      on_end_(std::move(on_end)),
      next_(work.environments, 0),
      sampler_(std::move(work.sampler)),
      curriculum_(work.curriculum) {
  if (has_curriculum_ && on_stage_) on_stage_(0);
}

std::optional<EpisodeAssignment> TrainingPlan::Next(std::uint64_t environment_id) {
  const runtime::MutexLock lock(mutex_);
  if (!pairs_.empty() && given_up_.size() == pairs_.size()) return std::nullopt;
  EpisodeAssignment assignment;
  assignment.start.environment_id = environment_id;
  assignment.start.episode = next_.at(environment_id - first_environment_)++;
  if (group_size_ > 1) {
    JoinGroupLocked(assignment);
  } else {
    ChooseStartLocked(assignment.start);
  }
  return assignment;
}

std::optional<EpisodeAssignment> TrainingPlan::Resume(std::uint64_t environment_id,
                                                      std::uint64_t episode) {
  const runtime::MutexLock lock(mutex_);
  const bool chosen = sampler_ && (pairs_.size() > 1 || !pairs_[0].situations.empty());
  if (group_size_ > 1 || !given_up_.empty() || chosen || has_curriculum_) return std::nullopt;
  next_.at(environment_id - first_environment_) = episode + 1;
  EpisodeAssignment assignment;
  assignment.start.environment_id = environment_id;
  assignment.start.episode = episode;
  ChooseStartLocked(assignment.start);
  return assignment;
}

void TrainingPlan::ChooseStartLocked(EpisodeStart& start) {
  start.fault_share = curriculum_.share();
  if (sampler_) {
    const StartSampler::Start sampled = sampler_->Sample(start.environment_id, start.episode);
    start.pair = sampled.pair;
    start.situation = sampled.situation;
  } else if (!given_up_.empty()) {
    auto pair = static_cast<std::size_t>((start.environment_id + start.episode) % pairs_.size());
    while (given_up_.contains(pair)) pair = (pair + 1) % pairs_.size();
    start.pair = pair;
  }
}

void TrainingPlan::JoinGroupLocked(EpisodeAssignment& assignment) {
  const bool stopped = group_start_.pair.has_value() && given_up_.contains(*group_start_.pair);
  if (members_ == 0 || members_ == group_size_ || stopped) {
    group_start_ = {.environment_id = first_environment_, .episode = groups_++};
    ChooseStartLocked(group_start_);
    members_ = 0;
  }
  ++members_;
  assignment.start = group_start_;
  // Unique among the actors, which have other environments.
  assignment.group = runtime::DeriveSeed(
      group_start_.episode, "group of environments from " + std::to_string(first_environment_));
}

void TrainingPlan::Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) {
  if (result.facts.satisfied_at_start) return;
  const runtime::MutexLock lock(mutex_);
  if (curriculum_.Note(assignment.start.fault_share, result.facts.clean)) {
    spdlog::info("event=curriculum stage={} share={:.3f}", curriculum_.stage(),
                 curriculum_.share());
    if (on_stage_) on_stage_(curriculum_.stage());
  }
  if (!sampler_) return;
  sampler_->Note({.pair = *assignment.start.pair, .situation = assignment.start.situation},
                 result.facts.clean, result.facts.steps);
}

void TrainingPlan::GiveUp(const EpisodeAssignment&, const Pair& pair, const std::string& reason) {
  bool none_left = false;
  {
    const runtime::MutexLock lock(mutex_);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].goal != pair.goal || pairs_[i].capture != pair.capture) continue;
      if (!given_up_.insert(i).second) return;
      if (sampler_) sampler_->Exclude(i);
      none_left = given_up_.size() == pairs_.size();
    }
  }
  LogGivenUp(pair, reason);
  if (none_left && on_end_) on_end_(NoneCanBegin(pairs_.size(), reason));
}

EvaluationPlan::EvaluationPlan(Work work, Observer observer, runtime::Clock& clock)
    : work_(std::move(work)), observer_(std::move(observer)), clock_(clock) {
  for (std::size_t policy = 0; policy < work_.policies.size(); ++policy) {
    for (std::size_t pair = 0; pair < work_.pairs.size(); ++pair) {
      series_.push_back({.policy = policy, .pair = pair});
    }
  }
}

std::optional<EpisodeAssignment> EvaluationPlan::Next(std::uint64_t) {
  std::optional<absl::Status> end;
  EpisodeAssignment assignment;
  {
    const runtime::MutexLock lock(mutex_);
    if (!started_) started_ = clock_.Now();
    Series* const series = ChooseLocked();
    if (series == nullptr) {
      end = EndLocked();
    } else {
      const std::uint64_t episode = *Due(*series);
      if (series->returned.erase(episode) == 0) ++series->next;
      ++series->under_way;
      const Pair& names = work_.pairs[series->pair];
      // The id comes from the pair's name, so it does not depend on which other pairs are
      // evaluated.
      const std::uint64_t id = runtime::DeriveSeed(0, names.goal + "/" + names.capture);
      assignment.start = {.environment_id = kEvaluationEnvironments | id,
                          .episode = episode,
                          .pair = series->pair,
                          .evaluation = true};
      assignment.policy = work_.policies[series->policy].selector;
      assignment.policy_index = series->policy;
      assignment.policy_name = work_.policies[series->policy].name;
      return assignment;
    }
  }
  Tell(end);
  return std::nullopt;
}

EvaluationPlan::Series& EvaluationPlan::SeriesOf(const EpisodeAssignment& assignment) {
  return series_[assignment.policy_index * work_.pairs.size() + *assignment.start.pair];
}

std::optional<std::uint64_t> EvaluationPlan::Due(const Series& series) const {
  if (series.given_up) return std::nullopt;
  const bool is_new = series.returned.empty();
  if (is_new && series.next == work_.episodes) return std::nullopt;
  if (is_new && work_.counted > 0 && series.counted + series.under_way >= work_.counted) {
    return std::nullopt;
  }
  const std::uint64_t episode = is_new ? series.next : *series.returned.begin();
  const bool late =
      work_.limit > runtime::Duration{} && started_ && clock_.Now() - *started_ >= work_.limit;
  if (late && episode > 0) return std::nullopt;
  return episode;
}

EvaluationPlan::Series* EvaluationPlan::ChooseLocked() {
  Series* chosen = nullptr;
  std::uint64_t chosen_round = 0;
  std::uint64_t chosen_episode = 0;
  for (Series& series : series_) {
    const std::optional<std::uint64_t> episode = Due(series);
    if (!episode) continue;
    const std::uint64_t round = *episode / kRoundEpisodes;
    // series_ is in the order of policies, then of pairs.
    const bool same_policy = chosen != nullptr && series.policy == chosen->policy;
    if (chosen == nullptr || round < chosen_round ||
        (round == chosen_round && same_policy && *episode < chosen_episode)) {
      chosen = &series;
      chosen_round = round;
      chosen_episode = *episode;
    }
  }
  return chosen;
}

std::optional<absl::Status> EvaluationPlan::EndLocked() {
  if (ended_) return std::nullopt;
  bool none = true;
  for (const Series& series : series_) {
    if (series.under_way > 0 || Due(series)) return std::nullopt;
    none = none && series.given_up;
  }
  ended_ = true;
  return none ? NoneCanBegin(work_.pairs.size(), last_reason_) : absl::OkStatus();
}

void EvaluationPlan::Tell(const std::optional<absl::Status>& end) const {
  if (end) observer_.on_end(*end);
}

void EvaluationPlan::Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) {
  observer_.on_result(assignment, result);
  std::optional<absl::Status> end;
  {
    const runtime::MutexLock lock(mutex_);
    Series& series = SeriesOf(assignment);
    --series.under_way;
    if (!result.facts.satisfied_at_start) ++series.counted;
    refusals_[assignment.policy_name] = 0;
    end = EndLocked();
  }
  Tell(end);
}

void EvaluationPlan::ReturnLocked(const EpisodeAssignment& assignment) {
  Series& series = SeriesOf(assignment);
  --series.under_way;
  series.returned.insert(assignment.start.episode);
}

void EvaluationPlan::Abort(const EpisodeAssignment& assignment) {
  std::optional<absl::Status> end;
  {
    const runtime::MutexLock lock(mutex_);
    ReturnLocked(assignment);
    end = EndLocked();
  }
  Tell(end);
}

void EvaluationPlan::Refuse(const EpisodeAssignment& assignment, const std::string& reason) {
  std::optional<absl::Status> end;
  {
    const runtime::MutexLock lock(mutex_);
    ReturnLocked(assignment);
    if (++refusals_[assignment.policy_name] >= kRefusalsAtMost && !ended_) {
      ended_ = true;
      end = runtime::Unavailable("policy " + assignment.policy_name + " is refused: " + reason);
    } else {
      end = EndLocked();
    }
  }
  Tell(end);
}

void EvaluationPlan::GiveUp(const EpisodeAssignment& assignment, const Pair& pair,
                            const std::string& reason) {
  bool first = false;
  {
    const runtime::MutexLock lock(mutex_);
    first = !SeriesOf(assignment).given_up;
    for (Series& series : series_) {
      if (series.pair == *assignment.start.pair) series.given_up = true;
    }
    last_reason_ = reason;
  }
  // The plan cannot end meanwhile, as the assignment is still under way.
  if (first) {
    LogGivenUp(pair, reason);
    observer_.on_given_up(pair, reason);
  }
  std::optional<absl::Status> end;
  {
    const runtime::MutexLock lock(mutex_);
    --SeriesOf(assignment).under_way;
    end = EndLocked();
  }
  Tell(end);
}

absl::StatusOr<EvaluationPlan::Policy> ParsePolicy(const std::string& text) {
  EvaluationPlan::Policy policy{.name = text, .selector = {}};
  if (text == "current" || text == "learned") {
    policy.selector.set_current(true);
  } else if (text == "initial") {
    policy.selector.set_initial(true);
  } else if (text == "uniform") {
    policy.selector.set_uniform(true);
  } else if (text == "similarity") {
    policy.selector.set_similarity(true);
  } else {
    const std::size_t dot = text.find('.');
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    if (dot == std::string::npos || !ParseNumber(std::string_view(text).substr(0, dot), epoch) ||
        !ParseNumber(std::string_view(text).substr(dot + 1), step)) {
      return runtime::InvalidArgument("\"" + text +
                                      "\" is no policy: current, initial, uniform, similarity or "
                                      "EPOCH.STEP");
    }
    policy.selector.mutable_pinned()->set_epoch(epoch);
    policy.selector.mutable_pinned()->set_step(step);
  }
  return policy;
}

}  // namespace shoal::actor
