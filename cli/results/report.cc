// SPDX-License-Identifier: Apache-2.0
#include "cli/results/report.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/metrics/metric_table.h"
#include "cli/results/result_html.h"
#include "cli/results/run_files.h"
#include "platform/display/line_chart.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;
using display::Chart;
using display::ChartLine;
using display::EscapeHtml;

constexpr char kStepsAxis[] = "environment steps";
// The member of a row of metrics.jsonl that holds the metrics of the table.
constexpr char kDetails[] = "details";
// The groups of metrics that have places of their own on the page.
constexpr char kTrainingGroup[] = "training";
constexpr char kStalenessGroup[] = "staleness";

// `inside` is the member of a row that holds `key`; empty for the row itself.
ChartLine LineOf(const std::vector<Json>& rows, const std::string& name, const std::string& key,
                 bool dots = false, const std::string& inside = "") {
  ChartLine line = {.name = name, .points = {}, .dots = dots};
  for (const Json& row : rows) {
    if (!inside.empty() && !row.contains(inside)) continue;
    const Json& holder = inside.empty() ? row : row[inside];
    if (!holder.contains(key) || !holder[key].is_number()) continue;
    if (!row.contains("environment_steps")) continue;
    line.points.emplace_back(row["environment_steps"].get<double>(), holder[key].get<double>());
  }
  return line;
}

std::string Draw(const std::vector<Chart>& charts) {
  std::string html;
  for (const Chart& chart : charts) html += display::DrawChart(chart);
  return html.empty() ? "" : "<div class=\"charts\">" + html + "</div>";
}

std::string Heading(const std::string& title, const std::string& html) {
  return html.empty() ? "" : "<h2>" + title + "</h2>" + html;
}

std::string Folded(const std::string& title, const std::string& html) {
  return "<details><summary>" + EscapeHtml(title) + "</summary>" + html + "</details>";
}

std::string LearningCurves(const std::vector<Json>& metrics, const std::vector<Json>& evaluations) {
  return Draw({{.title = "success",
                .x_title = kStepsAxis,
                .lines = {LineOf(metrics, "training", "success"),
                          LineOf(evaluations, "greedy", "success", true)},
                .unit = "share of episodes",
                .low = 0,
                .high = 1},
               {.title = "mean return",
                .x_title = kStepsAxis,
                .lines = {LineOf(metrics, "training", "return"),
                          LineOf(evaluations, "greedy", "return", true)}},
               {.title = "requests over the least possible",
                .x_title = kStepsAxis,
                .lines = {LineOf(evaluations, "steps", "steps_per_optimal", true),
                          LineOf(evaluations, "mutations", "mutations_per_optimal", true)},
                .unit = "ratio",
                .low = 1}});
}

std::string Speed(const std::vector<Json>& metrics) {
  return Draw({{.title = "environment steps",
                .x_title = kStepsAxis,
                .lines = {LineOf(metrics, "training", "environment_steps_per_second")},
                .unit = "per second",
                .low = 0},
               {.title = "staleness",
                .x_title = kStepsAxis,
                .lines = {LineOf(metrics, "training", "staleness")},
                .unit = "publications",
                .low = 0}});
}

// Describes a metric of a run that has no table of metrics: its group is the first word of its key.
MetricRow RowOf(const std::string& key) {
  std::string words = key;
  std::replace(words.begin(), words.end(), '_', ' ');
  return {.name = key,
          .kind = "gauge",
          .help = "",
          .group = words.substr(0, words.find(' ')),
          .unit = "",
          .title = words,
          .draw = "value",
          .over = "",
          .status = ""};
}

// A metric with its lines: one line, or one for each label.
struct Series {
  MetricRow row;
  std::vector<ChartLine> lines;

  bool empty() const {
    return std::all_of(lines.begin(), lines.end(),
                       [](const ChartLine& line) { return line.points.empty(); });
  }
  // The value that the metric had all the time, or nothing when it changed.
  std::optional<double> constant() const {
    if (lines.size() != 1) return std::nullopt;
    const auto& points = lines.front().points;
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    const double size = std::max(std::abs(low->second), std::abs(high->second));
    if (high->second - low->second > size * 1e-9) return std::nullopt;
    return low->second;
  }
  Chart chart() const {
    return {.title = row.title, .x_title = kStepsAxis, .lines = lines, .unit = row.unit};
  }
};

// Returns the label of "<key>/<label>" as a number, as it is for a bucket; infinity for any other.
double BoundOf(const std::string& name) {
  double bound = 0;
  const bool is_number = absl::SimpleAtod(name.substr(name.find('/') + 1), &bound);
  return is_number && !std::isnan(bound) ? bound : std::numeric_limits<double>::infinity();
}

// Returns all metrics in the details of metrics.jsonl, in the order of groups and titles.
std::vector<Series> ReadSeries(const std::vector<Json>& metrics, const MetricTable& table) {
  std::map<std::string, MetricRow> known;
  for (const auto& [name, row] : table.rows()) known.emplace(row.key(), row);
  std::map<std::string, std::vector<std::string>> keys;
  for (const Json& row : metrics) {
    if (!row.contains(kDetails)) continue;
    for (const auto& [name, value] : row[kDetails].items()) {
      std::vector<std::string>& own = keys[name.substr(0, name.find('/'))];
      if (std::find(own.begin(), own.end(), name) == own.end()) own.push_back(name);
    }
  }
  for (auto& [key, names] : keys) {
    std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return BoundOf(a) < BoundOf(b);
    });
  }
  std::vector<Series> all;
  for (const auto& [key, names] : keys) {
    const auto found = known.find(key);
    Series series = {.row = found == known.end() ? RowOf(key) : found->second, .lines = {}};
    for (const std::string& name : names) {
      const std::string label = name == key ? series.row.title : name.substr(key.size() + 1);
      series.lines.push_back(LineOf(metrics, label, name, /*dots=*/false, kDetails));
    }
    if (!series.empty()) all.push_back(std::move(series));
  }
  std::stable_sort(all.begin(), all.end(), [](const Series& a, const Series& b) {
    return std::tie(a.row.group, a.row.title) < std::tie(b.row.group, b.row.title);
  });
  return all;
}

// A table with each label's mean share over the whole run.
std::string ShareTable(const Series& series) {
  std::string head = "<tr><th class=\"l\">" + EscapeHtml(series.row.title) + "</th>";
  std::string body = "<tr><td>share of the run</td>";
  std::size_t rows = 1;
  for (const ChartLine& line : series.lines) rows = std::max(rows, line.points.size());
  for (const ChartLine& line : series.lines) {
    double sum = 0;
    for (const auto& point : line.points) sum += point.second;
    head += "<th>" + EscapeHtml(line.name) + "</th>";
    body += absl::StrFormat("<td>%.0f %%</td>", 100 * sum / static_cast<double>(rows));
  }
  return "<div class=\"wide\"><table>" + head + "</tr>" + body + "</tr></table></div>";
}

// Draws the shares that are of staleness, or all others, which are of time.
std::string Shares(const std::vector<Series>& all, bool staleness) {
  std::vector<Chart> charts;
  std::string tables;
  for (const Series& series : all) {
    if (series.row.draw != "shares") continue;
    if ((series.row.group == kStalenessGroup) != staleness) continue;
    tables += ShareTable(series);
    Chart chart = series.chart();
    chart.low = 0;
    chart.high = 1;
    charts.push_back(std::move(chart));
  }
  return tables + Draw(charts);
}

std::string Training(const std::vector<Series>& all) {
  std::vector<Chart> charts;
  for (const Series& series : all) {
    if (series.row.group == kTrainingGroup) charts.push_back(series.chart());
  }
  return Draw(charts);
}

std::string ConstantTable(const std::vector<const Series*>& constants) {
  if (constants.empty()) return "";
  std::string html =
      "<div class=\"wide\"><table><tr><th>constant</th><th>value</th><th class=\"l\">unit</th>"
      "<th class=\"l\">what it is</th></tr>";
  for (const Series* series : constants) {
    html += "<tr><td>" + EscapeHtml(series->row.title) + "</td><td>" +
            display::ShortNumber(*series->constant()) + "</td><td class=\"l\">" +
            EscapeHtml(series->row.unit) + "</td><td class=\"l\">" + EscapeHtml(series->row.help) +
            "</td></tr>";
  }
  return html + "</table></div>";
}

// One folded section for each group: curves of the metrics that changed, a table of those that did
// not.
std::string Remainder(const std::vector<Series>& all) {
  std::map<std::string, std::vector<const Series*>> groups;
  for (const Series& series : all) {
    // The page shows these above.
    const bool shown = series.row.draw == "shares" || !series.row.status.empty() ||
                       series.row.group == kTrainingGroup;
    if (!shown) groups[series.row.group].push_back(&series);
  }
  std::string html;
  for (const auto& [group, own] : groups) {
    std::vector<Chart> charts;
    std::vector<const Series*> constants;
    for (const Series* series : own) {
      if (series->constant()) {
        constants.push_back(series);
      } else {
        charts.push_back(series->chart());
      }
    }
    html += Folded(absl::StrFormat("%s (%d)", group, own.size()),
                   Draw(charts) + ConstantTable(constants));
  }
  return html;
}

// Without goals the first table of the page has the policies already.
std::string EvaluationInFull(const Json& result) {
  const std::string pairs = PairHtml(result);
  if (pairs.empty()) return "";
  const std::string open = OpenHtml(result);
  return PolicyHtml(result) + Folded("by goal, capture and policy", pairs) +
         (open.empty() ? "" : Folded("what failed episodes left open", open));
}

absl::StatusOr<std::string> WriteCheckedReport(const std::string& run_path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string run_text, runtime::ReadFile(run_path + "/run.json"));
  const Json run = Json::parse(run_text, nullptr, false);
  if (!run.is_object()) return runtime::DataLoss(run_path + "/run.json is no JSON object");
  std::string html = "<p class=\"note\">" + EscapeHtml(run.value("started", "")) + ", revision " +
                     EscapeHtml(run.value("revision", "")) + "<br><code>" +
                     EscapeHtml(run.value("command", "")) + "</code></p>";
  const Json result = ReadObject(run_path + "/result.json");
  if (result.contains("line")) {
    html += "<p class=\"line\"><b>" + EscapeHtml(result["line"].get<std::string>()) + "</b></p>";
  }
  const std::vector<Json> metrics = ReadLines(run_path + "/metrics.jsonl");
  const std::vector<Json> evaluations = ReadLines(run_path + "/evaluations.jsonl");
  const absl::StatusOr<MetricTable> table =
      MetricTable::Parse(ReadOrEmpty(run_path + "/metrics_table.json"));
  std::string config = EscapeHtml(ReadOrEmpty(run_path + "/config.toml"));
  if (!config.empty()) config = "<pre>" + config + "</pre>";
  const std::vector<Series> all = ReadSeries(metrics, table.ok() ? *table : MetricTable());
  html += SuccessHtml(result) + Heading("Learning curve", LearningCurves(metrics, evaluations)) +
          Heading("How training went", Training(all)) +
          Heading("Speed and staleness", Speed(metrics) + Shares(all, /*staleness=*/true)) +
          Heading("Where the time went", Shares(all, /*staleness=*/false)) +
          Heading("Everything else that was measured", Remainder(all)) +
          Heading("The evaluation in full", EvaluationInFull(result)) +
          Heading("Configuration", config.empty() ? "" : Folded("config.toml", config));
  const std::string path = run_path + "/report.html";
  SHOAL_RETURN_IF_ERROR(
      runtime::WriteFileAtomically(path, display::HtmlPage(run.value("name", run_path), html)));
  return path;
}

}  // namespace

absl::StatusOr<std::string> WriteReport(const std::string& run_path) {
  // The files of a run may be edited or of another version. A member of another type throws.
  try {
    return WriteCheckedReport(run_path);
  } catch (const Json::exception& error) {
    return runtime::DataLoss(run_path + " holds something unexpected: " + error.what());
  }
}

}  // namespace shoal::cli
