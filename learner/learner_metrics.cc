// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_metrics.h"

#include <chrono>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/runtime/clock.h"

namespace shoal::learner {
namespace {

double UnixSeconds() { return static_cast<double>(runtime::SystemClock().UnixNanos()) * 1e-9; }

nlohmann::ordered_json ToJson(const UpdateRecord& record) {
  const algorithms::UpdateReport& report = record.report;
  nlohmann::ordered_json json = {{"unix_seconds", UnixSeconds()},
                                 {"update", report.update},
                                 {"epoch", record.version.epoch},
                                 {"step", record.version.step},
                                 {"environment_steps", record.environment_steps},
                                 {"unrolls", record.unrolls},
                                 {"rows", report.rows},
                                 {"policy_loss", report.policy_loss},
                                 {"value_loss", report.value_loss},
                                 {"entropy", report.entropy},
                                 {"approximate_kl", report.approximate_kl},
                                 {"explained_variance", report.explained_variance},
                                 {"max_absolute_value", report.max_absolute_value},
                                 {"mean_return", report.mean_return},
                                 {"gradient_norm", report.gradient_norm},
                                 {"learning_rate", report.learning_rate},
                                 {"passes", report.passes},
                                 {"cloning_loss", report.cloning_loss},
                                 {"cloning_agreement", report.cloning_agreement},
                                 {"cloning_coefficient", report.cloning_coefficient},
                                 {"staleness_mean", report.mean_staleness},
                                 {"staleness_max", report.max_staleness},
                                 {"episodes", record.episodes.episodes},
                                 {"episode_return", record.episodes.mean_return},
                                 {"episode_length", record.episodes.mean_length},
                                 {"repeated_total", record.counts.repeated},
                                 {"stale_total", record.counts.stale},
                                 {"invalid_total", record.counts.invalid},
                                 {"waiting_seconds", record.waiting_seconds},
                                 {"decoding_seconds", record.decoding_seconds},
                                 {"updating_seconds", record.updating_seconds},
                                 {"publishing_seconds", record.publishing_seconds}};
  for (const auto& [name, value] : report.algorithm_metrics) json[name] = value;
  return json;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LearnerMetrics>> LearnerMetrics::Create(const std::string& path,
                                                                       runtime::Metrics& metrics) {
  std::ofstream file(path, std::ios::app);
  if (!file) return runtime::Internal("cannot append to " + path);
  return std::unique_ptr<LearnerMetrics>(new LearnerMetrics(std::move(file), metrics));
}

LearnerMetrics::LearnerMetrics(std::ofstream file, runtime::Metrics& metrics)
    : file_(std::move(file)),
      metrics_(metrics),
      updates_(metrics.Counter("shoal_updates_total", "Updates of the parameters")),
      failures_(metrics.Counter("shoal_learner_update_failures_total",
                                "Updates that were not finite and changed nothing")),
      steps_(metrics.Counter("shoal_learner_environment_steps_total", "Rows trained on")),
      staleness_(metrics.Gauge(
          "shoal_staleness_publications",
          "Mean publications between the version that acted and the one that learns")) {}

void LearnerMetrics::RecordFailure() { failures_.Increment(); }

void LearnerMetrics::RecordCloning(const algorithms::CloningReport& report) {
  metrics_.Gauge("shoal_learner_cloning_loss_nats", "Of the last cloning").Set(report.loss);
  metrics_.Gauge("shoal_learner_cloning_agreement_ratio", "Of the last cloning")
      .Set(report.agreement);
  const nlohmann::ordered_json line = {{"unix_seconds", UnixSeconds()},
                                       {"cloning", report.cloning},
                                       {"rows", report.rows},
                                       {"cloning_loss", report.loss},
                                       {"cloning_agreement", report.agreement},
                                       {"entropy", report.entropy},
                                       {"gradient_norm", report.gradient_norm}};
  file_ << line.dump() << std::endl;
}

void LearnerMetrics::Record(const UpdateRecord& record) {
  const algorithms::UpdateReport& report = record.report;
  updates_.Increment();
  steps_.Increment(report.rows);
  staleness_.Set(report.mean_staleness);
  const std::initializer_list<std::pair<const char*, double>> gauges = {
      {"policy_loss", report.policy_loss},
      {"value_loss", report.value_loss},
      {"entropy_nats", report.entropy},
      {"kl_nats", report.approximate_kl},
      {"explained_variance_ratio", report.explained_variance},
      {"value_max", report.max_absolute_value},
      {"gradient_norm", report.gradient_norm},
      {"learning_rate", report.learning_rate},
      {"staleness_max_publications", report.max_staleness},
      {"policy_epoch", static_cast<double>(record.version.epoch)},
      {"policy_step", static_cast<double>(record.version.step)}};
  for (const auto& [name, value] : gauges) {
    metrics_.Gauge(std::string("shoal_learner_") + name, "Of the last update").Set(value);
  }
  for (const auto& [name, value] : report.algorithm_metrics) {
    metrics_.Gauge("shoal_learner_" + name, "What the algorithm measured in the last update")
        .Set(value);
  }
  if (record.episodes.episodes > 0) {
    metrics_.Gauge("shoal_learner_episode_return", "Mean of the last update that had any")
        .Set(record.episodes.mean_return);
  }
  const std::initializer_list<std::pair<const char*, double>> phases = {
      {"waiting", record.waiting_seconds},
      {"decoding", record.decoding_seconds},
      {"updating", record.updating_seconds},
      {"publishing", record.publishing_seconds}};
  for (const auto& [phase, seconds] : phases) {
    metrics_
        .Counter("shoal_learner_phase_seconds_total", "Where rank 0's time goes",
                 {{"phase", phase}})
        .Increment(seconds);
  }
  const auto count = [this](const char* fate, std::uint64_t now, std::uint64_t before) {
    metrics_.Counter("shoal_learner_unrolls_total", "Unrolls that came, by fate", {{"fate", fate}})
        .Increment(static_cast<double>(now - before));
  };
  count("accepted", record.counts.accepted, last_.accepted);
  count("repeated", record.counts.repeated, last_.repeated);
  count("stale", record.counts.stale, last_.stale);
  count("invalid", record.counts.invalid, last_.invalid);
  last_ = record.counts;
  file_ << ToJson(record).dump() << std::endl;
}

}  // namespace shoal::learner
