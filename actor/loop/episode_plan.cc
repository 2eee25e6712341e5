// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/episode_plan.h"

#include <charconv>
#include <utility>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

bool ParseNumber(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<EpisodeAssignment> TrainingPlan::Next(std::uint64_t environment_id) {
  const runtime::MutexLock lock(mutex_);
  EpisodeAssignment assignment;
  assignment.start.environment_id = environment_id;
  assignment.start.episode = next_.at(environment_id - first_environment_)++;
  if (sampler_) assignment.start.pair = sampler_->Draw(environment_id, assignment.start.episode);
  return assignment;
}

void TrainingPlan::Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) {
  if (result.facts.satisfied_at_start) return;
  const runtime::MutexLock lock(mutex_);
  if (sampler_) sampler_->Note(*assignment.start.pair, result.facts.clean);
}

EvaluationPlan::EvaluationPlan(Work work, OnResult on_result, OnEnd on_end)
    : on_result_(std::move(on_result)), on_end_(std::move(on_end)) {
  for (const Policy& policy : work.policies) {
    for (std::uint64_t episode = 0; episode < work.episodes; ++episode) {
      for (std::size_t pair = 0; pair < work.pairs.size(); ++pair) {
        EpisodeAssignment assignment;
        const Pair& names = work.pairs[pair];
        // Named after the pair: which other pairs are evaluated does not matter.
        const std::uint64_t id = runtime::DeriveSeed(0, names.goal + "/" + names.capture);
        assignment.start = {.environment_id = kEvaluationEnvironments | id,
                            .episode = episode,
                            .pair = pair,
                            .evaluation = true};
        assignment.policy = policy.selector;
        assignment.policy_name = policy.name;
        waiting_.push_back(std::move(assignment));
      }
    }
  }
  unfinished_ = waiting_.size();
}

std::optional<EpisodeAssignment> EvaluationPlan::Next(std::uint64_t) {
  const runtime::MutexLock lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  EpisodeAssignment assignment = std::move(waiting_.front());
  waiting_.pop_front();
  return assignment;
}

void EvaluationPlan::Finish(const EpisodeAssignment& assignment, const EpisodeResult& result) {
  on_result_(assignment, result);
  bool all_done = false;
  {
    const runtime::MutexLock lock(mutex_);
    all_done = --unfinished_ == 0;
    refusals_[assignment.policy_name] = 0;
  }
  if (all_done) on_end_(absl::OkStatus());
}

void EvaluationPlan::Abort(const EpisodeAssignment& assignment) {
  const runtime::MutexLock lock(mutex_);
  waiting_.push_back(assignment);
}

void EvaluationPlan::Refuse(const EpisodeAssignment& assignment, const std::string& reason) {
  bool hopeless = false;
  {
    const runtime::MutexLock lock(mutex_);
    waiting_.push_back(assignment);
    hopeless = ++refusals_[assignment.policy_name] == kRefusalsAtMost;
  }
  if (hopeless) {
    on_end_(runtime::NotFound("policy " + assignment.policy_name + " is refused: " + reason));
  }
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
