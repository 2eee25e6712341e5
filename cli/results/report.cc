// SPDX-License-Identifier: Apache-2.0
#include "cli/results/report.h"

#include <absl/strings/str_format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/line_chart.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;

std::string ReadOrEmpty(const std::string& path) {
  const absl::StatusOr<std::string> text = runtime::ReadFile(path);
  return text.ok() ? *text : "";
}

// Lines that do not parse (the last one of a run that goes on) are left out.
std::vector<Json> ReadLines(const std::string& path) {
  std::vector<Json> rows;
  std::istringstream lines(ReadOrEmpty(path));
  for (std::string line; std::getline(lines, line);) {
    Json row = Json::parse(line, nullptr, false);
    if (row.is_object()) rows.push_back(std::move(row));
  }
  return rows;
}

Json ReadObject(const std::string& path) {
  Json object = Json::parse(ReadOrEmpty(path), nullptr, false);
  return object.is_object() ? object : Json::object();
}

runtime::ChartLine LineOf(const std::vector<Json>& rows, const std::string& name,
                          const std::string& key, bool dots = false) {
  runtime::ChartLine line = {.name = name, .points = {}, .dots = dots};
  for (const Json& row : rows) {
    const Json* value = row.contains(key) ? &row[key] : nullptr;
    if (value == nullptr && row.contains("details") && row["details"].contains(key)) {
      value = &row["details"][key];
    }
    if (value == nullptr || !value->is_number() || !row.contains("environment_steps")) continue;
    line.points.emplace_back(row["environment_steps"].get<double>(), value->get<double>());
  }
  return line;
}

std::string Charts(const std::vector<Json>& metrics, const std::vector<Json>& evaluations) {
  std::vector<runtime::Chart> charts;
  const std::string x = "environment steps";
  charts.push_back(
      {"success",
       x,
       {LineOf(metrics, "training", "success"), LineOf(evaluations, "greedy", "success", true)}});
  charts.push_back(
      {"return",
       x,
       {LineOf(metrics, "training", "return"), LineOf(evaluations, "greedy", "return", true)}});
  charts.push_back({"requests over the least possible",
                    x,
                    {LineOf(evaluations, "steps", "steps_per_optimal", true),
                     LineOf(evaluations, "mutations", "mutations_per_optimal", true)}});
  charts.push_back(
      {"environment steps/s", x, {LineOf(metrics, "training", "environment_steps_per_second")}});
  charts.push_back({"staleness, publications", x, {LineOf(metrics, "training", "staleness")}});
  std::set<std::string> names;
  for (const Json& row : metrics) {
    if (!row.contains("details")) continue;
    for (const auto& [name, value] : row["details"].items()) names.insert(name);
  }
  for (const std::string& name : names) charts.push_back({name, x, {LineOf(metrics, name, name)}});

  std::string html;
  for (const runtime::Chart& chart : charts) html += runtime::DrawChart(chart);
  return html;
}

std::string Cell(const Json& row, const char* key) {
  if (!row.contains(key)) return "–";
  const Json& value = row[key];
  if (value.is_string()) return runtime::EscapeHtml(value.get<std::string>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  return absl::StrFormat("%.3f", value.get<double>());
}

std::string Table(const std::vector<Json>& rows, const std::vector<const char*>& columns) {
  std::string html = "<table><tr>";
  for (const char* column : columns) html += "<th>" + std::string(column) + "</th>";
  html += "</tr>";
  for (const Json& row : rows) {
    html += "<tr>";
    for (const char* column : columns) html += "<td>" + Cell(row, column) + "</td>";
    html += "</tr>";
  }
  return html + "</table>";
}

std::string ResultTables(const Json& result) {
  if (!result.contains("totals") || !result.contains("pairs")) {
    return "<p>The run has no final evaluation (yet).</p>";
  }
  std::vector<Json> totals;
  for (const auto& [policy, score] : result["totals"].items()) {
    Json row = score;
    row["policy"] = policy;
    totals.push_back(std::move(row));
  }
  const std::vector<const char*> figures = {"policy",
                                            "episodes",
                                            "success",
                                            "reached",
                                            "clean",
                                            "steps_per_optimal",
                                            "mutations_per_optimal",
                                            "client_errors_per_step",
                                            "return"};
  std::vector<const char*> pair_columns = {"goal", "capture"};
  pair_columns.insert(pair_columns.end(), figures.begin(), figures.end());
  return Table(totals, figures) + "<h2>By goal and capture</h2>" +
         Table({result["pairs"].begin(), result["pairs"].end()}, pair_columns);
}

absl::StatusOr<std::string> WriteCheckedReport(const std::string& run_path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string run_text, runtime::ReadFile(run_path + "/run.json"));
  const Json run = Json::parse(run_text, nullptr, false);
  if (!run.is_object()) return runtime::DataLoss(run_path + "/run.json is no JSON object");
  std::string html = "<p>" + runtime::EscapeHtml(run.value("started", "")) + ", revision " +
                     runtime::EscapeHtml(run.value("revision", "")) + "<br><code>" +
                     runtime::EscapeHtml(run.value("command", "")) + "</code></p>";
  const Json result = ReadObject(run_path + "/result.json");
  if (result.contains("line")) {
    html += "<p><b>" + runtime::EscapeHtml(result["line"].get<std::string>()) + "</b></p>";
  }
  html +=
      "<h2>Learning curves</h2><div class=\"charts\">" +
      Charts(ReadLines(run_path + "/metrics.jsonl"), ReadLines(run_path + "/evaluations.jsonl")) +
      "</div><h2>Evaluation</h2>" + ResultTables(result) + "<h2>Configuration</h2><pre>" +
      runtime::EscapeHtml(ReadOrEmpty(run_path + "/config.toml")) + "</pre>";
  const std::string path = run_path + "/report.html";
  SHOAL_RETURN_IF_ERROR(
      runtime::WriteFileAtomically(path, runtime::HtmlPage(run.value("name", run_path), html)));
  return path;
}

}  // namespace

absl::StatusOr<std::string> WriteReport(const std::string& run_path) {
  // Files of a run may be of another version, or edited: a member of another type throws.
  try {
    return WriteCheckedReport(run_path);
  } catch (const Json::exception& error) {
    return runtime::DataLoss(run_path + " holds something unexpected: " + error.what());
  }
}

}  // namespace shoal::cli
