// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_metrics.h"

#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

UpdateRecord SomeRecord() {
  UpdateRecord record;
  record.report.rows = 10;
  record.report.update_epochs = 3;
  record.report.effective_sample_size = 0.75;
  record.report.mean_staleness = 2.5;
  record.report.staleness_rows = {4, 1, 0, 3, 0, 0, 0, 0, 2};
  record.report.algorithm_metrics = {{"clip_fraction", 0.125}};
  record.report.estimate_seconds = 1;
  record.report.gradient_seconds = 2;
  record.report.reduce_seconds = 4;
  record.report.step_seconds = 8;
  record.mean_use = 1.5;
  record.waiting_seconds = 16;
  record.decoding_seconds = 32;
  record.agreeing_seconds = 64;
  record.updating_seconds = 15 + 128;
  record.publishing_seconds = 256;
  return record;
}

// The metrics of a learner that made this update twice, and the last line of its file.
struct Reported {
  std::string text;
  nlohmann::json line;
};

Reported ReportTwice(const UpdateRecord& record) {
  const doubles::TemporaryFolder folder;
  runtime::Metrics metrics;
  const auto reports = LearnerMetrics::Create(folder.At("learner.jsonl"), metrics).value();
  reports->Record(record);
  reports->Record(record);
  const std::string written = runtime::ReadFile(folder.At("learner.jsonl")).value();
  return {metrics.Text(), nlohmann::json::parse(written.substr(0, written.find('\n')))};
}

void RequireLines(const std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    INFO(line);
    REQUIRE(text.find("\n" + line + "\n") != std::string::npos);
  }
}

TEST_CASE("all of the time that an update took is in exactly one phase") {
  const Reported reported = ReportTwice(SomeRecord());
  RequireLines(reported.text, {"shoal_learner_phase_seconds_total{phase=\"waiting\"} 32",
                               "shoal_learner_phase_seconds_total{phase=\"decoding\"} 64",
                               "shoal_learner_phase_seconds_total{phase=\"preparation\"} 256",
                               "shoal_learner_phase_seconds_total{phase=\"targets\"} 2",
                               "shoal_learner_phase_seconds_total{phase=\"gradient\"} 4",
                               "shoal_learner_phase_seconds_total{phase=\"reduction\"} 136",
                               "shoal_learner_phase_seconds_total{phase=\"optimiser\"} 16",
                               "shoal_learner_phase_seconds_total{phase=\"publishing\"} 512"});
  double sum = 0;
  for (const auto& [key, value] : reported.line.items()) {
    if (key.ends_with("_seconds") && key != "unix_seconds") sum += value.get<double>();
  }
  REQUIRE(sum == 16 + 32 + 64 + 15 + 128 + 256);
}

TEST_CASE("what the circuit breaker undid and softened is counted by reason and action") {
  const doubles::TemporaryFolder folder;
  runtime::Metrics metrics;
  const auto reports = LearnerMetrics::Create(folder.At("learner.jsonl"), metrics).value();
  reports->RecordVerdict(7, {BreakerAction::kSkip, Symptom::kNotFinite});
  reports->RecordVerdict(7, {BreakerAction::kSkip, Symptom::kNotFinite});
  reports->RecordVerdict(7, {BreakerAction::kRollBack, Symptom::kLostEpisodes});
  reports->RecordSoftening(7, Symptom::kEntropy);
  const std::string name = "shoal_learner_breaker_trips_total";
  RequireLines(metrics.Text(), {name + "{action=\"skip\",reason=\"not_finite\"} 2",
                                name + "{action=\"roll_back\",reason=\"lost_episodes\"} 1",
                                name + "{action=\"soften\",reason=\"entropy\"} 1"});
  const std::string written = runtime::ReadFile(folder.At("learner.jsonl")).value();
  const std::vector<std::string> lines = absl::StrSplit(written, '\n', absl::SkipEmpty());
  const auto first = nlohmann::json::parse(lines.front());
  REQUIRE(first["undone_after_update"] == 7);
  REQUIRE(first["reason"] == "not_finite");
  const auto last = nlohmann::json::parse(lines.back());
  REQUIRE(last["softened_after_update"] == 7);
  REQUIRE(last["reason"] == "entropy");
  REQUIRE(last["action"] == "soften");
}

TEST_CASE(
    "how unequal the work and the data of ranks are is reported, and nothing of a rank alone") {
  UpdateRecord record = SomeRecord();
  record.ranks = {.working_seconds = {1, 3}, .rows = {30, 10}, .communication_seconds = 0.5};
  const Reported reported = ReportTwice(record);
  RequireLines(reported.text, {"shoal_learner_straggler_ratio 1.5", "shoal_learner_data_skew 1.5",
                               "shoal_learner_rank_rows{rank=\"0\"} 30",
                               "shoal_learner_rank_rows{rank=\"1\"} 10"});
  REQUIRE(reported.line.at("rank_rows") == std::vector<double>{30, 10});
  REQUIRE(reported.line.at("data_skew") == 1.5);
  const Reported alone = ReportTwice(SomeRecord());
  REQUIRE(alone.text.find("data_skew") == std::string::npos);
  REQUIRE_FALSE(alone.line.contains("data_skew"));
}

TEST_CASE("rows by staleness are a histogram over all updates, and counts of each update") {
  const Reported reported = ReportTwice(SomeRecord());
  RequireLines(reported.text, {"shoal_learner_row_staleness_publications_count 20",
                               "shoal_learner_row_staleness_publications_sum 50",
                               "shoal_learner_row_staleness_publications_bucket{le=\"0\"} 8",
                               "shoal_learner_row_staleness_publications_bucket{le=\"1\"} 10",
                               "shoal_learner_row_staleness_publications_bucket{le=\"2\"} 10",
                               "shoal_learner_row_staleness_publications_bucket{le=\"4\"} 16",
                               "shoal_learner_row_staleness_publications_bucket{le=\"64\"} 16",
                               "shoal_learner_row_staleness_publications_bucket{le=\"+Inf\"} 20"});
  REQUIRE(reported.line.at("staleness_rows") == std::vector<double>{4, 1, 0, 3, 0, 0, 0, 0, 2});
}

TEST_CASE("an unroll is reused as often as replay gave it out, in each pass of the update") {
  const Reported reported = ReportTwice(SomeRecord());
  RequireLines(reported.text,
               {"shoal_learner_sample_reuse 4.5", "shoal_learner_effective_sample_size_ratio 0.75",
                "shoal_learner_clip_fraction 0.125"});
  REQUIRE(reported.line.at("sample_reuse") == 4.5);
  REQUIRE(reported.line.at("effective_sample_size") == 0.75);
  REQUIRE(reported.line.at("clip_fraction") == 0.125);
}

}  // namespace
}  // namespace shoal::learner
