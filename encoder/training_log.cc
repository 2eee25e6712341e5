// SPDX-License-Identifier: Apache-2.0
#include "encoder/training_log.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "platform/display/line_chart.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;
using Rows = std::vector<json>;

constexpr std::chrono::seconds kPlainInterval{5};
// The most evaluations that the report's table shows: the newest ones.
constexpr std::size_t kShownEvaluations = 30;

std::string MetricsPath(const std::string& folder) { return folder + "/metrics.jsonl"; }

// Reads the rows. A line that does not parse is the last one of a process that was killed, and is
// skipped.
absl::StatusOr<Rows> ReadRows(const std::string& folder) {
  auto text = runtime::ReadFile(MetricsPath(folder));
  if (absl::IsNotFound(text.status())) return Rows{};
  SHOAL_RETURN_IF_ERROR(text.status());
  Rows rows;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line, nullptr, false);
    if (row.is_object() && row.contains("step") && row["step"].is_number_integer()) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

absl::Status KeepRowsUntil(std::int64_t step, const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(const Rows rows, ReadRows(folder));
  std::string kept;
  for (const json& row : rows) {
    if (row["step"].get<std::int64_t>() <= step) kept += row.dump() + "\n";
  }
  return runtime::WriteFileAtomically(MetricsPath(folder), kept);
}

display::ChartLine LineOf(const Rows& rows, const char* name, const char* key, bool dots) {
  display::ChartLine line{.name = name, .points = {}, .dots = dots};
  for (const json& row : rows) {
    const auto value = row.find(key);
    if (value == row.end() || !value->is_number()) continue;
    line.points.emplace_back(row["step"].get<double>(), value->get<double>());
  }
  return line;
}

std::string Charts(const Rows& rows) {
  const auto trained = [&](const char* key) { return LineOf(rows, "training", key, false); };
  const auto held_out = [&](const char* key) { return LineOf(rows, "held out", key, true); };
  const std::vector<display::Chart> charts = {
      {"loss", "steps", {trained("loss"), held_out("held_out_loss")}},
      {"token accuracy", "steps", {trained("accuracy"), held_out("held_out_accuracy")}},
      {"perplexity, held out", "steps", {held_out("held_out_perplexity")}},
      {"learning rate", "steps", {trained("learning_rate")}},
      {"gradient norm", "steps", {trained("gradient_norm")}},
      {"tokens/s", "steps", {trained("tokens_per_second")}},
      {"target tokens a step", "steps", {trained("targets")}}};
  std::string html;
  for (const display::Chart& chart : charts) html += display::DrawChart(chart);
  return "<div class=\"charts\">" + html + "</div>";
}

std::string Evaluations(const Rows& rows) {
  std::vector<std::string> lines;
  for (const json& row : rows) {
    if (!row.contains("held_out_loss")) continue;
    lines.push_back("<tr>");
    for (const char* key : {"step", "held_out_loss", "held_out_perplexity", "held_out_accuracy"}) {
      const bool number = row.contains(key) && row[key].is_number();
      lines.back() +=
          "<td>" + (number ? absl::StrFormat("%.6g", row[key].get<double>()) : "–") + "</td>";
    }
    lines.back() += "</tr>";
  }
  if (lines.empty()) return "<p>Nothing is held out.</p>";
  std::string html =
      "<table><tr><th>step</th><th>loss</th><th>perplexity</th><th>token accuracy</th></tr>";
  const std::size_t first = lines.size() - std::min(lines.size(), kShownEvaluations);
  for (std::size_t i = first; i < lines.size(); ++i) html += lines[i];
  return html + "</table>";
}

// Returns by name how several ranks have shared a step.
std::vector<std::pair<std::string, double>> SharingOf(const collectives::RankTimes& ranks) {
  if (ranks.working_seconds.empty()) return {};
  return {{"communication_seconds", ranks.communication_seconds},
          {"exposed_communication_seconds", ranks.exposed_communication_seconds},
          {"communication_bytes", ranks.communication_bytes},
          {"straggler_ratio", ranks.straggler_ratio()},
          {"data_skew", ranks.data_skew()}};
}

std::string Remaining(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(std::round(seconds), 1e9));
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

TrainingLog::TrainingLog(std::string folder, std::unique_ptr<display::EventWriter> events,
                         runtime::Clock& clock)
    : folder_(std::move(folder)),
      events_(std::move(events)),
      clock_(clock),
      metrics_(MetricsPath(folder_), std::ios::binary | std::ios::app),
      line_(kPlainInterval, clock) {}

absl::StatusOr<std::unique_ptr<TrainingLog>> TrainingLog::Open(const std::string& folder,
                                                               std::int64_t step,
                                                               runtime::Clock& clock) {
  SHOAL_RETURN_IF_ERROR(KeepRowsUntil(step, folder));
  SHOAL_ASSIGN_OR_RETURN(auto events, display::EventWriter::Create(
                                          folder, static_cast<double>(clock.UnixNanos()) * 1e-9));
  return std::unique_ptr<TrainingLog>(new TrainingLog(folder, std::move(events), clock));
}

double TrainingLog::WallSeconds() const { return static_cast<double>(clock_.UnixNanos()) * 1e-9; }

absl::Status TrainingLog::AddRow(const std::string& row) {
  metrics_ << row << '\n' << std::flush;
  if (metrics_) return absl::OkStatus();
  return runtime::Internal("cannot write " + MetricsPath(folder_));
}

absl::Status TrainingLog::AddStep(const TrainingRow& row) {
  const language::LossReport& loss = row.report.loss;
  line_.Show([&](auto) { return ProgressLine(row); });
  json line = {{"step", row.report.step},
               {"epochs", row.epochs},
               {"tokens", row.tokens},
               {"loss", loss.loss},
               {"accuracy", loss.accuracy},
               {"targets", loss.targets},
               {"gradient_norm", row.report.gradient_norm},
               {"learning_rate", row.learning_rate},
               {"stage", row.stage},
               {"tokens_per_second", std::round(row.tokens_per_second)}};
  std::map<std::string, double> events = {{"train/loss", loss.loss},
                                          {"train/perplexity", loss.perplexity},
                                          {"train/accuracy", loss.accuracy},
                                          {"train/targets", loss.targets},
                                          {"train/gradient_norm", row.report.gradient_norm},
                                          {"train/learning_rate", row.learning_rate},
                                          {"train/epochs", row.epochs},
                                          {"train/tokens_per_second", row.tokens_per_second}};
  for (const auto& [name, value] : SharingOf(row.ranks)) {
    line[name] = value;
    events.emplace("train/" + name, value);
  }
  SHOAL_RETURN_IF_ERROR(AddRow(line.dump()));
  return events_->Write(WallSeconds(), row.report.step, events);
}

absl::Status TrainingLog::AddEvaluation(std::int64_t step, const language::LossReport& report) {
  line_.Note(absl::StrFormat("step %d  held out: loss %.4f  perplexity %.2f  accuracy %.4f", step,
                             report.loss, report.perplexity, report.accuracy));
  SHOAL_RETURN_IF_ERROR(AddRow(json{
      {"step", step},
      {"held_out_loss", report.loss},
      {"held_out_perplexity", report.perplexity},
      {"held_out_accuracy", report.accuracy},
      {"held_out_targets",
       report.targets}}.dump()));
  return events_->Write(WallSeconds(), step,
                        {{"held_out/loss", report.loss},
                         {"held_out/perplexity", report.perplexity},
                         {"held_out/accuracy", report.accuracy}});
}

absl::Status TrainingLog::WriteReport(const std::string& options, const std::string& result) {
  SHOAL_ASSIGN_OR_RETURN(const Rows rows, ReadRows(folder_));
  const std::string name = std::filesystem::path(folder_).filename().string();
  std::string html;
  if (!result.empty()) html += "<p><b>" + display::EscapeHtml(result) + "</b></p>";
  html += "<h2>Learning curves</h2>" + Charts(rows) + "<h2>Held out</h2>" + Evaluations(rows) +
          "<h2>Options</h2><pre>" + display::EscapeHtml(options) + "</pre>";
  return runtime::WriteFileAtomically(
      folder_ + "/report.html", display::HtmlPage(name.empty() ? "language model" : name, html));
}

std::string ProgressLine(const TrainingRow& row) {
  const language::LossReport& loss = row.report.loss;
  std::string line = absl::StrFormat(
      "step %d  epoch %.2f  loss %.4f  perplexity %.2f  accuracy %.3f  %.0f tokens/s  ETA %s",
      row.report.step, row.epochs, loss.loss, loss.perplexity, loss.accuracy, row.tokens_per_second,
      Remaining(row.seconds_left));
  if (row.ranks.working_seconds.empty()) return line;
  // Rank 0 shows the line.
  const double waited = row.ranks.exposed_communication_seconds;
  const double all = waited + row.ranks.working_seconds.front();
  return line + absl::StrFormat("  communication %.0f%%  slowest rank %.2f",
                                all > 0 ? 100 * waited / all : 0.0, row.ranks.straggler_ratio());
}

}  // namespace shoal::encoder
