// SPDX-License-Identifier: Apache-2.0
#include "cli/results/result_html.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/results/evaluation.h"
#include "platform/display/line_chart.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;
using display::EscapeHtml;

std::string VendorOf(const std::string& capture) { return capture.substr(0, capture.find('-')); }

// Success over some pairs: the successful episodes, and all episodes.
struct Success {
  double reached = 0;
  double episodes = 0;
  // Why a pair could not be played, or empty when all could.
  std::string given_up = "";

  void Add(const Success& other) {
    reached += other.reached;
    episodes += other.episodes;
  }
  std::string Cell() const {
    if (!given_up.empty()) return "<td title=\"" + EscapeHtml(given_up) + "\">given up</td>";
    if (episodes == 0) return "<td></td>";
    const double rate = reached / episodes;
    // The colour goes from red over yellow to green.
    return absl::StrFormat("<td style=\"background:hsl(%.0f 70%% 85%%)\">%.2f</td>", 120 * rate,
                           rate);
  }
};

bool HasEvaluation(const Json& result) {
  return result.contains("totals") && result.contains("pairs");
}

struct ByGoal {
  bool operator()(const std::string& a, const std::string& b) const { return GoalBefore(a, b); }
};

struct Matrix {
  std::map<std::string, std::map<std::string, Success>, ByGoal> goals;
  std::map<std::string, Success> captures;
};

Matrix ReadMatrix(const Json& result) {
  Matrix matrix;
  for (const Json& pair : result["pairs"]) {
    if (pair.value("policy", "") != "learned") continue;
    const std::string capture = pair.value("capture", "");
    const double episodes = pair.value("episodes", 0.0);
    const Success success = {.reached = pair.value("success", 0.0) * episodes,
                             .episodes = episodes};
    matrix.goals[pair.value("goal", "")][capture] = success;
    matrix.captures[capture].Add(success);
  }
  for (const Json& pair : result.value("given_up", Json::array())) {
    const std::string capture = pair.value("capture", "");
    matrix.goals[pair.value("goal", "")][capture] = {.given_up = pair.value("reason", "?")};
    matrix.captures.try_emplace(capture);
  }
  return matrix;
}

// Two header rows: vendors, and their captures.
std::string Head(const Matrix& matrix, const std::string& held_out) {
  std::map<std::string, int> vendors;
  for (const auto& [capture, success] : matrix.captures) ++vendors[VendorOf(capture)];
  std::string upper = "<tr><th></th>";
  std::string lower = "<tr><th>goal</th>";
  std::string vendor;
  for (const auto& [capture, success] : matrix.captures) {
    if (VendorOf(capture) != vendor) {
      vendor = VendorOf(capture);
      upper += absl::StrFormat("<th class=\"c\" colspan=\"%d\">%s</th>", vendors[vendor],
                               EscapeHtml(vendor));
    }
    const std::string rest = capture == vendor ? capture : capture.substr(vendor.size() + 1);
    lower += "<th>" + EscapeHtml(rest) + (capture == held_out ? "<br>zero-shot" : "") + "</th>";
  }
  return upper + "<th></th></tr>" + lower + "<th>all</th></tr>";
}

std::string Cell(const Json& row, const char* key) {
  if (!row.contains(key)) return "–";
  const Json& value = row[key];
  if (value.is_string()) return EscapeHtml(value.get<std::string>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  return absl::StrFormat("%.3f", value.get<double>());
}

std::string Table(const std::vector<Json>& rows, const std::vector<const char*>& columns) {
  std::string html = "<div class=\"wide\"><table><tr>";
  for (const char* column : columns) html += "<th>" + std::string(column) + "</th>";
  html += "</tr>";
  for (const Json& row : rows) {
    html += "<tr>";
    for (const char* column : columns) html += "<td>" + Cell(row, column) + "</td>";
    html += "</tr>";
  }
  return html + "</table></div>";
}

const std::vector<const char*> kFigures = {"policy",
                                           "episodes",
                                           "success",
                                           "reached",
                                           "clean",
                                           "steps_per_optimal",
                                           "mutations_per_optimal",
                                           "client_errors_per_step",
                                           "return"};

}  // namespace

std::string SuccessHtml(const Json& result) {
  constexpr char kHeading[] = "<h2>Success by goal and vendor</h2>";
  if (!HasEvaluation(result)) {
    return std::string(kHeading) + "<p>The run has no final evaluation (yet).</p>";
  }
  const Matrix matrix = ReadMatrix(result);
  const std::string held_out = result.value("held_out", "");
  if (matrix.captures.size() == 1 && matrix.captures.begin()->first.empty()) {
    return "<h2>Result by policy</h2>" + PolicyHtml(result);
  }
  std::string html = std::string(kHeading) + "<div class=\"wide\"><table>" + Head(matrix, held_out);
  Success all;
  for (const auto& [goal, cells] : matrix.goals) {
    html += "<tr><td>" + EscapeHtml(goal) + "</td>";
    Success whole;
    for (const auto& [capture, ignored] : matrix.captures) {
      const auto found = cells.find(capture);
      const Success success = found == cells.end() ? Success() : found->second;
      html += success.Cell();
      if (capture != held_out) whole.Add(success);
    }
    html += whole.Cell() + "</tr>";
    all.Add(whole);
  }
  html += "<tr><td>all</td>";
  for (const auto& [capture, success] : matrix.captures) html += success.Cell();
  return html + all.Cell() + "</tr></table></div>";
}

std::string PolicyHtml(const Json& result) {
  if (!HasEvaluation(result)) return "";
  std::vector<Json> totals;
  for (const auto& [policy, score] : result["totals"].items()) {
    Json row = score;
    row["policy"] = policy;
    totals.push_back(std::move(row));
  }
  return Table(totals, kFigures);
}

std::string OpenHtml(const Json& result) {
  if (!HasEvaluation(result)) return "";
  std::vector<Json> rows;
  for (const Json& pair : result["pairs"]) {
    if (pair.value("policy", "") != "learned") continue;
    const Json open = pair.value("open", Json::object());
    for (const auto& [requirement, episodes] : open.items()) {
      rows.push_back({{"goal", pair.value("goal", "")},
                      {"capture", pair.value("capture", "")},
                      {"episodes", episodes},
                      {"left open", requirement}});
    }
  }
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return a["episodes"] > b["episodes"]; });
  return Table(rows, {"goal", "capture", "episodes", "left open"});
}

std::string PairHtml(const Json& result) {
  if (!HasEvaluation(result)) return "";
  std::vector<const char*> columns = {"goal", "capture"};
  columns.insert(columns.end(), kFigures.begin(), kFigures.end());
  return Table({result["pairs"].begin(), result["pairs"].end()}, columns);
}

}  // namespace shoal::cli
