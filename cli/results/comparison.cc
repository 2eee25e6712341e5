// SPDX-License-Identifier: Apache-2.0
#include "cli/results/comparison.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/cluster/effective_config.h"
#include "cli/results/aggregate.h"
#include "cli/results/run_files.h"
#include "platform/display/line_chart.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/median.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;
using display::EscapeHtml;

constexpr std::size_t kPlaces = 60;
// A group is named by at most this many settings.
constexpr std::size_t kNamedSettings = 4;
// These say most of what a group is, so they come first in its name.
constexpr const char* kTelling[] = {"environment.kind", "algorithm.name", "policy.core"};

// The settings of a run that make it what it is, by section.key.
using Settings = std::map<std::string, std::string>;

struct Run {
  Settings settings;
  Curve by_steps;
  Curve by_seconds;
  std::optional<double> score;
  std::optional<double> reached_steps;
  std::optional<double> seconds;
};

struct Group {
  std::string name;
  std::vector<Run> runs;
};

// Leaves out where and under which name and seed the run was made, and its addresses.
bool SaysWhatRunIs(const std::string& key, const std::string& value, const std::string& folder) {
  static const std::set<std::string> left_out = {"run.name",
                                                 "run.directory",
                                                 "run.seed",
                                                 "cluster.inference",
                                                 "cluster.inference_file",
                                                 "cluster.replay",
                                                 "cluster.replay_file",
                                                 "cluster.mockserver",
                                                 "cluster.learner",
                                                 "cluster.mockserver_control"};
  if (left_out.contains(key)) return false;
  // The folder as a whole part of a path.
  for (std::size_t at = value.find(folder); at != std::string::npos;
       at = value.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    if (end < value.size() && std::string_view("/\"'").find(value[end]) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// A configuration that does not parse has no settings.
Settings ReadSettings(const std::string& run_path) {
  // The path without links and without a slash at its end, as the run itself was told it.
  std::error_code ignored;
  std::filesystem::path real = std::filesystem::weakly_canonical(run_path, ignored);
  if (!real.has_filename()) real = real.parent_path();
  const std::string folder = "/" + real.filename().string();
  const auto written = SettingsOf(ReadOrEmpty(run_path + "/config.toml"));
  Settings settings;
  if (!written.ok()) return settings;
  for (const std::string& setting : *written) {
    const std::size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (SaysWhatRunIs(key, value, folder)) settings[key] = value;
  }
  return settings;
}

// Returns the number of a result line's word "key=number".
std::optional<double> NumberIn(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    double number = 0;
    if (word.starts_with(key + "=") && absl::SimpleAtod(word.substr(key.size() + 1), &number)) {
      return number;
    }
  }
  return std::nullopt;
}

absl::StatusOr<Run> ReadRun(const std::string& path) {
  if (!std::filesystem::exists(path + "/run.json")) {
    return runtime::NotFound(path + " holds no run: it has no run.json");
  }
  Run run;
  run.settings = ReadSettings(path);
  for (const Json& row : ReadLines(path + "/evaluations.jsonl")) {
    const char* const score = row.contains("success") ? "success" : "return";
    const double steps = row.value("environment_steps", 0.0);
    const double value = row.value(score, 0.0);
    const bool later = run.by_steps.empty() || steps > run.by_steps.back().first;
    if (!later) continue;
    run.by_steps.emplace_back(steps, value);
    run.by_seconds.emplace_back(row.value("seconds", 0.0), value);
  }
  const std::string line = ReadObject(path + "/result.json").value("line", "");
  run.score = NumberIn(line, "success");
  if (!run.score) run.score = NumberIn(line, "greedy");
  run.reached_steps = NumberIn(line, "reached_steps");
  run.seconds = NumberIn(line, "seconds");
  return run;
}

// Returns the settings in which groups differ, the telling ones first.
std::vector<std::string> Differing(const std::vector<Group>& groups) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> holders;
  for (const Group& group : groups) {
    for (const auto& [key, value] : group.runs.front().settings) {
      values[key].insert(value);
      ++holders[key];
    }
  }
  std::vector<std::string> keys;
  const auto differs = [&](const std::string& key) {
    return values[key].size() > 1 || (holders[key] > 0 && holders[key] < groups.size());
  };
  for (const char* key : kTelling) {
    if (differs(key)) keys.emplace_back(key);
  }
  for (const auto& [key, all] : values) {
    if (differs(key) && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::vector<Group> GroupsOf(std::vector<Run> runs) {
  std::vector<Group> groups;
  for (Run& run : runs) {
    const auto own = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.runs.front().settings == run.settings;
    });
    if (own == groups.end()) {
      groups.push_back({.name = "", .runs = {}});
      groups.back().runs.push_back(std::move(run));
    } else {
      own->runs.push_back(std::move(run));
    }
  }
  const std::vector<std::string> keys = Differing(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> words;
    for (const std::string& key : keys) {
      if (words.size() == kNamedSettings) break;
      const Settings& settings = groups[i].runs.front().settings;
      const auto found = settings.find(key);
      const bool telling =
          std::find(std::begin(kTelling), std::end(kTelling), key) != std::end(kTelling);
      const std::string value = found == settings.end() ? "none" : found->second;
      words.push_back(telling ? value : key + " " + value);
    }
    std::string name = absl::StrJoin(words, ", ");
    std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
    groups[i].name = name.empty() ? "all runs" : std::move(name);
  }
  return groups;
}

std::string CurveChart(const std::vector<Group>& groups, const std::string& x_title,
                       Curve Run::*curve) {
  display::Chart chart = {.title = "score of greedy evaluations", .x_title = x_title, .lines = {}};
  for (const Group& group : groups) {
    std::vector<Curve> curves;
    for (const Run& run : group.runs) curves.push_back(run.*curve);
    CurveBand band = BandOf(curves, kPlaces);
    chart.lines.push_back(
        {.name = group.name, .points = std::move(band.mean), .band = std::move(band.interval)});
  }
  return display::DrawChart(chart);
}

std::vector<double> Known(const std::vector<Run>& runs, std::optional<double> Run::*number) {
  std::vector<double> known;
  for (const Run& run : runs) {
    if (run.*number) known.push_back(*(run.*number));
  }
  return known;
}

std::string Cell(const std::string& text) { return "<td>" + text + "</td>"; }

// Four cells: interquartile mean with its interval, least, median, greatest.
std::string ScoreCells(const std::vector<double>& values) {
  if (values.empty()) return "<td></td><td></td><td></td><td></td>";
  const auto [low, high] = BootstrapInterval(values, 0);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return Cell(absl::StrFormat("%.4g [%.4g, %.4g]", InterquartileMean(values), low, high)) +
         Cell(absl::StrFormat("%.4g", *least)) +
         Cell(absl::StrFormat("%.4g", runtime::Median(values))) +
         Cell(absl::StrFormat("%.4g", *greatest));
}

std::string Table(const std::vector<Group>& groups) {
  std::string html =
      "<div class=\"wide\"><table><tr><th>runs that differ in their seed</th><th>runs</th>"
      "<th>score, interquartile mean</th><th>min</th><th>median</th><th>max</th>"
      "<th>reached their bar</th><th>steps to it, median</th><th>seconds, median</th></tr>";
  for (const Group& group : groups) {
    const std::vector<double> reached = Known(group.runs, &Run::reached_steps);
    const std::vector<double> seconds = Known(group.runs, &Run::seconds);
    html += "<tr>" + Cell(EscapeHtml(group.name)) + Cell(std::to_string(group.runs.size())) +
            ScoreCells(Known(group.runs, &Run::score)) +
            Cell(absl::StrFormat("%d of %d", reached.size(), group.runs.size())) +
            Cell(reached.empty() ? "" : display::ShortNumber(runtime::Median(reached))) +
            Cell(seconds.empty() ? "" : display::ShortNumber(runtime::Median(seconds))) + "</tr>";
  }
  return html + "</table></div>";
}

absl::Status WriteCheckedComparison(const std::vector<std::string>& run_paths,
                                    const std::string& path) {
  std::vector<Run> runs;
  for (const std::string& run_path : run_paths) {
    SHOAL_ASSIGN_OR_RETURN(Run run, ReadRun(run_path));
    runs.push_back(std::move(run));
  }
  const std::vector<Group> groups = GroupsOf(std::move(runs));
  const std::string html =
      Table(groups) +
      "<p class=\"note\">Lines are interquartile means over the seeds, bands their 95 % bootstrap "
      "intervals (Agarwal et al. 2021). A run that ended keeps its last score. Steps to the bar "
      "are "
      "those of the runs that reached it.</p><div class=\"charts\">" +
      CurveChart(groups, "environment steps", &Run::by_steps) +
      CurveChart(groups, "seconds", &Run::by_seconds) + "</div>";
  return runtime::WriteFileAtomically(path, display::HtmlPage("Comparison of runs", html));
}

}  // namespace

absl::Status WriteComparison(const std::vector<std::string>& run_paths, const std::string& path) {
  // The files of a run may be edited or of another version. A member of another type throws.
  try {
    return WriteCheckedComparison(run_paths, path);
  } catch (const Json::exception& error) {
    return runtime::DataLoss(std::string("a run holds something unexpected: ") + error.what());
  }
}

}  // namespace shoal::cli
