// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_metrics.h"

#include <absl/strings/str_replace.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"

namespace shoal::learner {
namespace {

double UnixSeconds() { return static_cast<double>(runtime::SystemClock().UnixNanos()) * 1e-9; }

// A number of each update: its key in learner.jsonl, and its metric. Without a metric name the
// number is in learner.jsonl only.
struct UpdateNumber {
  const char* key;
  runtime::MetricInfo info;
  double (*value)(const UpdateRecord&);
};

runtime::MetricInfo Metric(const char* name, const char* unit, const char* title,
                           const char* help) {
  return {.name = std::string("shoal_learner_") + name,
          .help = help,
          .group = "learner",
          .unit = unit,
          .title = title};
}

// A metric that tells whether training is healthy; the report shows these first.
runtime::MetricInfo TrainingMetric(const char* name, const char* unit, const char* title,
                                   const char* help) {
  runtime::MetricInfo info = Metric(name, unit, title, help);
  info.group = "training";
  return info;
}

// Where the time of an update went, by the name of each phase.
std::vector<std::pair<std::string, double>> PhasesOf(const UpdateRecord& record) {
  const algorithms::UpdateReport& report = record.report;
  const double measured = report.estimate_seconds + report.gradient_seconds +
                          report.reduce_seconds + report.step_seconds;
  return {{"waiting", record.waiting_seconds},
          {"decoding", record.decoding_seconds},
          {"preparation", std::max(0.0, record.updating_seconds - measured)},
          {"targets", report.estimate_seconds},
          {"gradient", report.gradient_seconds},
          {"reduction", record.agreeing_seconds + report.reduce_seconds},
          {"optimiser", report.step_seconds},
          {"publishing", record.publishing_seconds}};
}

// Each number has one row. To add a number, add a row here; nothing else needs to change.
const std::vector<UpdateNumber>& UpdateNumbers() {
  static const std::vector<UpdateNumber> numbers = {
      {"policy_loss",
       TrainingMetric("policy_loss", "", "policy loss", "Loss of the policy in the last update."),
       [](const UpdateRecord& r) { return r.report.policy_loss; }},
      {"value_loss",
       TrainingMetric("value_loss", "", "value loss",
                      "Loss of the value function in the last update."),
       [](const UpdateRecord& r) { return r.report.value_loss; }},
      {"entropy",
       TrainingMetric("entropy_nats", "nats", "entropy of the policy",
                      "Mean entropy of the policy over the rows of the last update."),
       [](const UpdateRecord& r) { return r.report.entropy; }},
      {"approximate_kl",
       TrainingMetric(
           "kl_nats", "nats", "KL divergence of the update",
           "Approximate KL divergence between the policies before and after the last update."),
       [](const UpdateRecord& r) { return r.report.approximate_kl; }},
      {"effective_sample_size",
       TrainingMetric("effective_sample_size_ratio", "share", "effective sample size",
                      "Share of the last update's rows that its importance weights leave."),
       [](const UpdateRecord& r) { return r.report.effective_sample_size; }},
      {"log_probability_drift",
       TrainingMetric(
           "log_probability_drift_nats", "nats", "drift between inference and learner",
           "Mean difference between the log-probabilities that inference and the learner "
           "gave actions of the last update by the same parameters."),
       [](const UpdateRecord& r) { return r.report.log_probability_drift; }},
      {"current_rows", {}, [](const UpdateRecord& r) { return r.report.current_rows; }},
      {"sample_reuse",
       TrainingMetric("sample_reuse", "times", "sample reuse",
                      "How often the unrolls of the last update were trained on, it included."),
       [](const UpdateRecord& r) {
         return r.mean_use * static_cast<double>(r.report.update_epochs);
       }},
      {"explained_variance",
       TrainingMetric("explained_variance_ratio", "share", "explained variance",
                      "Share of the returns' variance that the value function explains."),
       [](const UpdateRecord& r) { return r.report.explained_variance; }},
      {"max_absolute_value",
       Metric("value_max", "return", "largest value", "Largest absolute value in the last update."),
       [](const UpdateRecord& r) { return r.report.max_absolute_value; }},
      {"mean_return", {}, [](const UpdateRecord& r) { return r.report.mean_return; }},
      {"gradient_norm",
       TrainingMetric("gradient_norm", "", "gradient norm", "Norm of the last update's gradient."),
       [](const UpdateRecord& r) { return r.report.gradient_norm; }},
      {"learning_rate", Metric("learning_rate", "", "learning rate", "Step size of the optimiser."),
       [](const UpdateRecord& r) { return r.report.learning_rate; }},
      {"entropy_coefficient",
       {},
       [](const UpdateRecord& r) { return r.report.entropy_coefficient; }},
      {"kl_coefficient", {}, [](const UpdateRecord& r) { return r.report.kl_coefficient; }},
      {"return_deviation", {}, [](const UpdateRecord& r) { return r.report.return_deviation; }},
      {"cloning_loss", {}, [](const UpdateRecord& r) { return r.report.cloning_loss; }},
      {"cloning_agreement", {}, [](const UpdateRecord& r) { return r.report.cloning_agreement; }},
      {"cloning_coefficient",
       {},
       [](const UpdateRecord& r) { return r.report.cloning_coefficient; }},
      {"staleness_mean",
       {.name = "shoal_staleness_publications",
        .help = "Mean publications between the version that acted and the one that learns.",
        .group = "staleness",
        .unit = "publications",
        .title = "staleness",
        .status = "staleness"},
       [](const UpdateRecord& r) { return r.report.mean_staleness; }},
      {"staleness_max",
       {.name = "shoal_learner_staleness_max_publications",
        .help = "Most publications between the version that acted and the one that learns.",
        .group = "staleness",
        .unit = "publications",
        .title = "largest staleness"},
       [](const UpdateRecord& r) { return r.report.max_staleness; }},
      {"epoch",
       Metric("policy_epoch", "", "epoch of the parameters",
              "Starts of the learner that published."),
       [](const UpdateRecord& r) { return static_cast<double>(r.version.epoch); }},
      {"step", Metric("policy_step", "", "step of the parameters", "Publications in this epoch."),
       [](const UpdateRecord& r) { return static_cast<double>(r.version.step); }},
      {"environment_steps", {}, [](const UpdateRecord& r) { return r.environment_steps; }},
      {"unrolls", {}, [](const UpdateRecord& r) { return static_cast<double>(r.unrolls); }},
      {"demonstrations",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.demonstrations); }},
      {"rows", {}, [](const UpdateRecord& r) { return static_cast<double>(r.report.rows); }},
      {"update_epochs",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.report.update_epochs); }},
      {"episodes",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.episodes.episodes); }},
      {"episode_return", {}, [](const UpdateRecord& r) { return r.episodes.mean_return; }},
      {"episode_length", {}, [](const UpdateRecord& r) { return r.episodes.mean_length; }},
      {"lost_episodes",
       Metric("lost_episodes", "episodes", "lost episodes in an update",
              "Episodes of the last update that were cut off without a last observation."),
       [](const UpdateRecord& r) { return static_cast<double>(r.episodes.lost); }},
      {"repeated_total",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.counts.repeated); }},
      {"condemned_total",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.counts.condemned); }},
      {"breaker_open",
       Metric("breaker_open", "", "probation after a rollback",
              "1 while the circuit breaker watches updates after a rollback, otherwise 0."),
       [](const UpdateRecord& r) { return r.breaker == BreakerState::kHalfOpen ? 1.0 : 0.0; }},
      {"breaker_softened",
       Metric("breaker_softened", "", "learning softened by the circuit breaker",
              "1 while the circuit breaker scales the learning rate down because a symptom goes "
              "on, otherwise 0."),
       [](const UpdateRecord& r) { return r.breaker == BreakerState::kSoftened ? 1.0 : 0.0; }},
      {"stale_total",
       {},
       [](const UpdateRecord& r) { return static_cast<double>(r.counts.stale); }},
      {"gradient_rank",
       {},
       [](const UpdateRecord& r) {
         return static_cast<double>(r.gradient.value_or(GradientRecord()).rank);
       }},
      {"gradient_staleness",
       {.name = "shoal_learner_gradient_staleness_updates",
        .help = "Updates between the parameters that the last gradient was computed from and those "
                "it was applied to; 0 unless gradients are asynchronous.",
        .group = "staleness",
        .unit = "updates",
        .title = "staleness of asynchronous gradients"},
       [](const UpdateRecord& r) {
         return static_cast<double>(r.gradient.value_or(GradientRecord()).staleness);
       }},
      {"gradients_dropped_total",
       {},
       [](const UpdateRecord& r) {
         return static_cast<double>(r.gradient.value_or(GradientRecord()).dropped);
       }},
      {"invalid_total", {}, [](const UpdateRecord& r) {
         return static_cast<double>(r.counts.invalid);
       }}};
  return numbers;
}

nlohmann::ordered_json ToJson(const UpdateRecord& record) {
  nlohmann::ordered_json line = {{"unix_seconds", UnixSeconds()}, {"update", record.report.update}};
  for (const UpdateNumber& number : UpdateNumbers()) line[number.key] = number.value(record);
  line["staleness_rows"] = record.report.staleness_rows;
  for (const auto& [name, seconds] : PhasesOf(record)) line[name + "_seconds"] = seconds;
  for (const auto& [name, value] : record.report.algorithm_metrics) line[name] = value;
  if (record.ranks.working_seconds.empty()) return line;
  line["rank_working_seconds"] = record.ranks.working_seconds;
  line["communication_seconds"] = record.ranks.communication_seconds;
  line["communication_bytes"] = record.ranks.communication_bytes;
  line["straggler_ratio"] = record.ranks.straggler_ratio();
  line["rank_rows"] = record.ranks.rows;
  line["data_skew"] = record.ranks.data_skew();
  return line;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LearnerMetrics>> LearnerMetrics::Create(const std::string& path,
                                                                       runtime::Metrics& metrics) {
  SHOAL_ASSIGN_OR_RETURN(auto file, runtime::AppendedFile::Open(path));
  return std::unique_ptr<LearnerMetrics>(new LearnerMetrics(std::move(file), metrics));
}

LearnerMetrics::LearnerMetrics(std::unique_ptr<runtime::AppendedFile> file,
                               runtime::Metrics& metrics)
    : file_(std::move(file)),
      metrics_(metrics),
      updates_(metrics.Counter("shoal_updates_total", "Updates of the parameters")),
      failures_(metrics.Counter("shoal_learner_update_failures_total",
                                "Updates that failed on the only rank and changed nothing")),
      rows_(
          metrics.Counter("shoal_learner_rows_total", "Rows trained on, each time that they are")),
      staleness_(metrics.Histogram(
          {.name = "shoal_learner_row_staleness_publications",
           .help = "Rows trained on by the publications between the version that acted and the one "
                   "that learns, each time that they are.",
           .group = "staleness",
           .unit = "share",
           .title = "rows by staleness of at most",
           .draw = runtime::Draw::kShares},
          {algorithms::kStalenessBounds.begin(), algorithms::kStalenessBounds.end()})) {}

void LearnerMetrics::RecordFailure() { failures_.Increment(); }

void LearnerMetrics::RecordGradient(const std::string& fate) {
  runtime::MetricInfo info = Metric("gradients_total", "gradients", "asynchronous gradients",
                                    "Gradients that ranks sent to the first one, by fate.");
  info.draw = runtime::Draw::kLabels;
  metrics_.Counter(info, {{"fate", fate}}).Increment();
}

void LearnerMetrics::RecordNotSaved(const std::string& what) {
  metrics_
      .Counter(TrainingMetric(
                   "not_saved_total", "saves", "what the disk had no room for",
                   "Checkpoints, parameters, ids of unrolls, condemned versions, epochs and lines "
                   "of metrics that were not saved when they were due."),
               {{"what", what}})
      .Increment();
}

void LearnerMetrics::Write(const std::string& line) {
  const absl::Status written = file_->Append(line + "\n");
  const bool was_missing = std::exchange(line_is_missing_, !written.ok());
  if (written.ok()) {
    if (was_missing) spdlog::info("event=saved_again what=metrics");
    return;
  }
  RecordNotSaved("metrics");
  if (was_missing) return;
  spdlog::warn("event=not_saved what=metrics reason={}",
               runtime::Quoted(runtime::Message(written)));
}

void LearnerMetrics::RecordVerdict(std::int64_t update, const Verdict& verdict) {
  RecordTrip("undone_after_update", update, verdict.symptom ? ToString(*verdict.symptom) : "none",
             ToString(verdict.action));
}

void LearnerMetrics::RecordSoftening(std::int64_t update, Symptom symptom) {
  RecordTrip("softened_after_update", update, ToString(symptom), "soften");
}

void LearnerMetrics::RecordTrip(const char* when, std::int64_t update, const std::string& reason,
                                const std::string& action) {
  metrics_
      .Counter(TrainingMetric("breaker_trips_total", "times", "what the circuit breaker did",
                              "Updates that the circuit breaker undid, by what it saw and what it "
                              "did, and how often it softened those that followed."),
               {{"reason", reason}, {"action", action}})
      .Increment();
  const nlohmann::ordered_json line = {
      {"unix_seconds", UnixSeconds()}, {when, update}, {"reason", reason}, {"action", action}};
  Write(line.dump());
}

void LearnerMetrics::RecordGroupFailures(const std::map<std::string, std::int64_t>& by_cause) {
  RecordByCause(by_cause,
                Metric("group_failures", "failures", "failures of the group of ranks",
                       "Failures after which the supervisor started all ranks again, by cause."));
}

void LearnerMetrics::RecordGroupChanges(const std::map<std::string, std::int64_t>& by_cause) {
  RecordByCause(by_cause,
                Metric("group_changes", "changes", "changes of the nodes that train",
                       "Starts of all ranks after nodes came, went or failed, by cause."));
}

void LearnerMetrics::RecordByCause(const std::map<std::string, std::int64_t>& by_cause,
                                   runtime::MetricInfo info) {
  info.draw = runtime::Draw::kLabels;
  for (const auto& [cause, count] : by_cause) {
    metrics_.Gauge(info, {{"cause", cause}}).Set(static_cast<double>(count));
  }
}

void LearnerMetrics::RecordCloning(const algorithms::CloningReport& report, std::int64_t planned) {
  runtime::MetricInfo done = Metric("cloning_done_ratio", "share", "progress of cloning",
                                    "Share of the updates by behaviour cloning that are done.");
  done.status = "cloned";
  metrics_.Gauge(done).Set(static_cast<double>(report.cloning) / static_cast<double>(planned));
  metrics_
      .Gauge(Metric("cloning_loss_nats", "nats", "loss of behaviour cloning",
                    "Loss of the last update by behaviour cloning."))
      .Set(report.loss);
  metrics_
      .Gauge(Metric("cloning_agreement_ratio", "share", "agreement with the demonstrations",
                    "Share of demonstrated actions that the policy finds likeliest."))
      .Set(report.agreement);
  const nlohmann::ordered_json line = {{"unix_seconds", UnixSeconds()},
                                       {"cloning", report.cloning},
                                       {"rows", report.rows},
                                       {"cloning_loss", report.loss},
                                       {"cloning_agreement", report.agreement},
                                       {"entropy", report.entropy},
                                       {"gradient_norm", report.gradient_norm}};
  Write(line.dump());
}

void LearnerMetrics::RecordRanks(const collectives::RankTimes& times) {
  runtime::MetricInfo working =
      Metric("rank_working_seconds", "s", "work of each rank in an update",
             "Time of each rank outside collective calls in the last update.");
  runtime::MetricInfo rows = Metric("rank_rows", "rows", "rows of each rank in an update",
                                    "Rows that each rank trained on in the last update.");
  working.draw = runtime::Draw::kLabels;
  rows.draw = runtime::Draw::kLabels;
  for (std::size_t rank = 0; rank < times.working_seconds.size(); ++rank) {
    const std::map<std::string, std::string> labels = {{"rank", std::to_string(rank)}};
    metrics_.Gauge(working, labels).Set(times.working_seconds[rank]);
    metrics_.Gauge(rows, labels).Set(times.rows[rank]);
  }
  metrics_
      .Gauge(Metric("communication_seconds", "s", "communication in an update",
                    "Time of the first rank within collective calls in the last update."))
      .Set(times.communication_seconds);
  metrics_
      .Gauge(Metric("communication_bytes", "bytes", "bytes reduced in an update",
                    "Bytes of the arrays that a rank passed to collective calls in the last "
                    "update, compressed gradients as they are sent."))
      .Set(times.communication_bytes);
  metrics_
      .Gauge(Metric("straggler_ratio", "", "slowest rank over the mean",
                    "Working time of the slowest rank in the last update, over the mean of all."))
      .Set(times.straggler_ratio());
  metrics_
      .Gauge(Metric("data_skew", "", "most rows of a rank over the mean",
                    "Rows of the rank that had most in the last update, over the mean of all."))
      .Set(times.data_skew());
}

void LearnerMetrics::Record(const UpdateRecord& record) {
  const algorithms::UpdateReport& report = record.report;
  updates_.Increment();
  rows_.Increment(report.rows);
  staleness_.ObserveMultiple({report.staleness_rows.begin(), report.staleness_rows.end()},
                             report.mean_staleness * report.rows);
  for (const UpdateNumber& number : UpdateNumbers()) {
    if (!number.info.name.empty()) metrics_.Gauge(number.info).Set(number.value(record));
  }
  for (const auto& [name, value] : report.algorithm_metrics) {
    const std::string title = absl::StrReplaceAll(name, {{"_", " "}});
    metrics_
        .Gauge(TrainingMetric(name.c_str(), "", title.c_str(),
                              "What the algorithm measured in the last update."))
        .Set(value);
  }
  if (record.episodes.episodes > 0) {
    metrics_
        .Gauge({.name = "shoal_learner_episode_return",
                .help = "Mean return of the episodes of the last update that had any.",
                .unit = "return",
                .title = "return of the episodes learned from"})
        .Set(record.episodes.mean_return);
  }
  if (!record.ranks.working_seconds.empty()) RecordRanks(record.ranks);
  for (const auto& [phase, seconds] : PhasesOf(record)) {
    metrics_
        .Counter({.name = "shoal_learner_phase_seconds_total",
                  .help = "Time of the learner's first rank by what it does.",
                  .group = "where the time went",
                  .unit = "share",
                  .title = "the learner's time",
                  .draw = runtime::Draw::kShares},
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
  count("condemned", record.counts.condemned, last_.condemned);
  count("invalid", record.counts.invalid, last_.invalid);
  last_ = record.counts;
  Write(ToJson(record).dump());
}

}  // namespace shoal::learner
