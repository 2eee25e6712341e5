// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/actor_metrics.h"

#include <algorithm>
#include <cctype>

namespace shoal::actor {
namespace {

constexpr std::array<const char*, kWaits> kWaitNames = {"environment", "message", "inference",
                                                        "connection", "backoff"};
constexpr std::array<const char*, kAbortReasons> kAbortNames = {
    "environment_lost", "server_restarted", "row_refused", "start_refused"};

// "ROW_NEED_CONTENT" -> "need_content".
std::string StatusName(std::size_t status) {
  std::string name = proto::RowStatus_Name(static_cast<proto::RowStatus>(status)).substr(4);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace

ActorMetrics::ActorMetrics(runtime::Metrics& metrics)
    : metrics_(metrics),
      steps_(metrics.Counter("shoal_environment_steps_total", "Steps of all environments")),
      fenced_(metrics.Counter("shoal_environments_fenced_total",
                              "Environments that a newer actor took over")),
      achieved_(metrics.Counter("shoal_hindsight_achieved_total",
                                "Goals that steps achieved and their episodes were not given")),
      relabelled_episodes_(metrics.Counter("shoal_hindsight_episodes_total",
                                           "Episodes told again under a goal they achieved")),
      relabelled_rows_(metrics.Counter("shoal_hindsight_rows_total",
                                       "Rows of episodes told again under another goal")),
      not_relabelled_(metrics.Counter("shoal_hindsight_refused_total",
                                      "Goals under which an episode could not be told again")) {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    statuses_[i] = &metrics.Counter("shoal_act_rows_total", "Rows answered by inference",
                                    {{"status", StatusName(i)}});
  }
  for (std::size_t i = 0; i < kWaits; ++i) {
    waits_[i] = &metrics.Counter({.name = "shoal_environment_wait_seconds_total",
                                  .help = "Time of all environments by what they wait for",
                                  .group = "where the time went",
                                  .unit = "share",
                                  .title = "environments wait for",
                                  .draw = runtime::Draw::kShares},
                                 {{"reason", kWaitNames[i]}});
  }
  for (std::size_t i = 0; i < aborts_.size(); ++i) {
    aborts_[i] = &metrics.Counter("shoal_episodes_aborted_total", "Episodes that were cut off",
                                  {{"reason", kAbortNames[i]}});
  }
}

void ActorMetrics::SetCurriculumStage(std::int64_t stage) {
  metrics_
      .Gauge("shoal_curriculum_stage",
             "Stage of the faults that training episodes may meet, from 0 to "
             "actor.curriculum.stages")
      .Set(static_cast<double>(stage));
}

void ActorMetrics::CountEpisode(const EpisodeResult& result) {
  const EpisodeFacts& facts = result.facts;
  const runtime::MutexLock lock(mutex_);
  PairCounters& counters = CountersLocked(facts.goal, facts.capture);
  counters.episodes.Increment();
  if (facts.success) counters.successes.Increment();
  if (facts.clean) counters.clean.Increment();
  if (facts.satisfied_at_start) counters.satisfied_at_start.Increment();
  counters.steps.Increment(facts.steps);
  counters.mutations.Increment(facts.mutations);
  counters.optimum.Increment(facts.optimum);
  counters.client_errors.Increment(facts.client_errors);
  counters.return_sum.Increment(result.total_reward);
}

void ActorMetrics::CountAbort(AbortReason reason) {
  aborts_[static_cast<std::size_t>(reason)]->Increment();
}

void ActorMetrics::CountRelabelled(std::size_t rows) {
  if (rows == 0) {
    not_relabelled_.Increment();
    return;
  }
  relabelled_episodes_.Increment();
  relabelled_rows_.Increment(static_cast<double>(rows));
}

void ActorMetrics::CountWait(Wait reason, double seconds) {
  waits_[static_cast<std::size_t>(reason)]->Increment(seconds);
}

void ActorMetrics::CountStatuses(const inference::client::RowStatusCounts& before,
                                 const inference::client::RowStatusCounts& now) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] > before[i]) statuses_[i]->Increment(static_cast<double>(now[i] - before[i]));
  }
}

ActorMetrics::PairCounters& ActorMetrics::CountersLocked(const std::string& goal,
                                                         const std::string& capture) {
  const auto key = std::make_pair(goal, capture);
  if (const auto it = pairs_.find(key); it != pairs_.end()) return it->second;
  const runtime::Labels labels = {{"goal", goal}, {"capture", capture}};
  const auto counter = [&](const char* name, const char* help) -> prometheus::Counter& {
    return metrics_.Counter(name, help, labels);
  };
  PairCounters counters{
      .episodes = counter("shoal_episodes_total", "Episodes that came to their end"),
      .successes = counter("shoal_episode_success_total", "Episodes that reached their goal"),
      .clean = metrics_.Counter({.name = "shoal_episode_clean_total",
                                 .help = "Episodes that reached their goal without side effects",
                                 .group = "learning",
                                 .title = "success in training",
                                 .over = "shoal_episodes_total",
                                 .status = "success"},
                                labels),
      .satisfied_at_start =
          counter("shoal_episode_satisfied_at_start_total", "Goals that held before any request"),
      .steps = counter("shoal_episode_steps_total", "Steps of finished episodes"),
      .mutations = counter("shoal_episode_mutations_total", "Requests that change something"),
      .optimum = counter("shoal_episode_optimum_total", "The least mutations for these episodes"),
      .client_errors = counter("shoal_episode_client_errors_total", "Responses with 4xx"),
      .return_sum = metrics_.Gauge({.name = "shoal_episode_return_sum",
                                    .help = "Sum of the returns of all episodes",
                                    .group = "learning",
                                    .title = "mean return in training",
                                    .over = "shoal_episodes_total",
                                    .status = "return"},
                                   labels)};
  return pairs_.emplace(key, counters).first->second;
}

}  // namespace shoal::actor
