// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place_report.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "placement/schedule_chart.h"
#include "platform/display/line_chart.h"

namespace shoal::cli {
namespace {

using placement::DeviceSet;
using placement::Graph;
using placement::Limit;
using placement::Peer;
using placement::Placement;

constexpr double kGibi = 1 << 30;
constexpr std::size_t kShownLimits = 3;

std::string GroupsText(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.size() > kShown && i >= kShown / 2 && i + kShown / 2 < names.size()) {
      if (i == kShown / 2) text += ", ...";
      continue;
    }
    text += (text.empty() ? "" : ", ") + names[i];
  }
  return text;
}

std::string AgainstBest(const placement::Step& step, const placement::Step& best) {
  if (!step.fits() || !best.fits()) return "";
  return absl::StrFormat("+%.1f %%", 100 * (step.seconds / best.seconds - 1));
}

// Names the best method, and one device if that is no slower.
std::string BestText(const PlaceAnswer& answer) {
  const Peer& best = answer.Best();
  return absl::StrFormat(
      "best placement: %s, %s a step (predicted)%s\n", best.method, StepText(best.found.step),
      best.method == "one device" ? "; no way was found to be faster on several" : "");
}

std::string LimitText(const std::vector<Limit>& limits) {
  std::string text = "limited by";
  for (std::size_t i = 0; i < std::min(limits.size(), kShownLimits); ++i) {
    absl::StrAppendFormat(&text, "%s %s (twice as fast: -%.1f %%)", i == 0 ? "" : ",",
                          limits[i].name, 100 * limits[i].gain);
  }
  return limits.empty() ? "limited by no single device or link\n" : text + "\n";
}

// The best step of each search, as stairs over what `place_of` gives for an improvement and, for
// the end, for what was found; without the first placements, which are so slow that they would hide
// the others.
template <typename PlaceOf>
std::string DrawSearches(const std::vector<Peer>& peers, double best_seconds,
                         const std::string& x_title, const PlaceOf& place_of) {
  constexpr double kSlowest = 2;
  display::Chart chart{.title = "Best step", .x_title = x_title, .lines = {}, .unit = "ms"};
  for (const Peer& peer : peers) {
    if (peer.found.evaluations <= 1) continue;
    display::ChartLine line{.name = peer.method, .points = {}};
    for (const placement::Improvement& improvement : peer.found.improvements) {
      if (!improvement.step.fits() || improvement.step.seconds > kSlowest * best_seconds) continue;
      const double x = place_of(improvement);
      if (!line.points.empty()) line.points.emplace_back(x, line.points.back().second);
      line.points.emplace_back(x, 1e3 * improvement.step.seconds);
    }
    if (line.points.empty()) continue;
    line.points.emplace_back(place_of(peer.found), line.points.back().second);
    chart.lines.push_back(std::move(line));
  }
  return DrawChart(chart);
}

std::string SearchCharts(const std::vector<Peer>& peers, double best_seconds) {
  const std::string charts =
      DrawSearches(peers, best_seconds, "placements tried",
                   [](const auto& found) { return static_cast<double>(found.evaluations); }) +
      DrawSearches(peers, best_seconds, "seconds", [](const auto& found) { return found.seconds; });
  return charts.empty() ? "" : "<h2>Searches</h2><div class=\"charts\">" + charts + "</div>";
}

// What a method found, with its improvements as pairs of placements tried and seconds. Without
// seconds where nothing fits.
nlohmann::json MethodJson(const Peer& peer) {
  nlohmann::json improvements = nlohmann::json::array();
  for (const placement::Improvement& improvement : peer.found.improvements) {
    if (!improvement.step.fits()) continue;
    improvements.push_back({improvement.evaluations, improvement.step.seconds});
  }
  nlohmann::json method = {{"method", peer.method},
                           {"evaluations", peer.found.evaluations},
                           {"improvements", std::move(improvements)}};
  if (peer.found.step.fits()) method["step_seconds"] = peer.found.step.seconds;
  return method;
}

}  // namespace

std::vector<DeviceUse> UsesOf(const Graph& graph, const Placement& placement,
                              const placement::Simulator& simulator) {
  std::vector<DeviceUse> uses(simulator.devices());
  std::vector<std::vector<std::string>> names(uses.size());
  const std::vector<placement::OperationRun> runs = simulator.Runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    DeviceUse& use = uses[placement[graph.operations[i].group]];
    ++use.operations;
    use.busy_seconds += runs[i].finish - runs[i].start;
  }
  for (std::size_t group = 0; group < placement.size(); ++group) {
    names[placement[group]].push_back(graph.groups[group]);
  }
  for (std::size_t device = 0; device < uses.size(); ++device) {
    uses[device].peak_bytes = simulator.peak_bytes()[device];
    uses[device].groups = GroupsText(names[device]);
  }
  return uses;
}

std::string StepText(const placement::Step& step) {
  if (!step.fits()) return absl::StrFormat("out of memory by %.0f %%", 100 * step.excess);
  return absl::StrFormat("%.3f ms", 1e3 * step.seconds);
}

std::string DescribePlacement(const Graph& graph, const DeviceSet& devices,
                              const PlaceAnswer& answer) {
  std::string text =
      absl::StrFormat("%s: %d operations in %d groups on %d devices\n\n", graph.name,
                      graph.operations.size(), graph.groups.size(), devices.devices.size());
  absl::StrAppendFormat(&text, "%-19s %22s %10s %12s %12s\n", "method", "step", "slower", "tried",
                        "best after");
  for (const Peer& peer : answer.peers) {
    absl::StrAppendFormat(&text, "%-19s %22s %10s %12d %12d\n", peer.method,
                          StepText(peer.found.step),
                          AgainstBest(peer.found.step, answer.Best().found.step),
                          peer.found.evaluations, peer.found.best_after());
  }
  text += "\n" + BestText(answer) + LimitText(answer.limits) + "\n";
  for (const std::string& note : answer.notes) text += note + "\n\n";
  absl::StrAppendFormat(&text, "%-10s %10s %8s %22s  %s\n", "device", "operations", "busy",
                        "memory at most", "groups");
  const double seconds = answer.Best().found.step.seconds;
  for (std::size_t i = 0; i < answer.uses.size(); ++i) {
    const DeviceUse& use = answer.uses[i];
    const std::string memory = absl::StrFormat("%.2f of %.0f GiB", use.peak_bytes / kGibi,
                                               devices.devices[i].memory_bytes / kGibi);
    absl::StrAppendFormat(&text, "%-10s %10d %6.1f %% %22s  %s\n", devices.devices[i].name,
                          use.operations, seconds > 0 ? 100 * use.busy_seconds / seconds : 0,
                          memory, use.groups);
  }
  return text;
}

std::string PlacementPage(const Graph& graph, const DeviceSet& devices, const PlaceAnswer& answer,
                          const placement::Simulator& simulator) {
  using display::EscapeHtml;
  const placement::Step& best = answer.Best().found.step;
  std::string body = "<p class=\"line\">" + EscapeHtml(BestText(answer)) + "</p><p>" +
                     EscapeHtml(LimitText(answer.limits)) + "</p>";
  for (const std::string& note : answer.notes) body += "<p>" + EscapeHtml(note) + "</p>";
  body += "<h2>Schedule</h2>" +
          DrawSchedule(graph, devices, answer.Best().found.placement, simulator, best.seconds) +
          "<h2>Methods</h2><table><tr><th>method<th>step<th>slower<th>placements "
          "tried<th>best after</tr>";
  for (const Peer& peer : answer.peers) {
    absl::StrAppendFormat(&body, "<tr><td>%s<td>%s<td>%s<td>%d<td>%d</tr>", EscapeHtml(peer.method),
                          StepText(peer.found.step), AgainstBest(peer.found.step, best),
                          peer.found.evaluations, peer.found.best_after());
  }
  body += "</table>" + SearchCharts(answer.peers, best.seconds);
  body +=
      "<h2>Devices</h2><table><tr><th>device<th>operations<th>busy<th>memory at "
      "most<th>memory<th class=\"l\">groups</tr>";
  for (std::size_t i = 0; i < answer.uses.size(); ++i) {
    const DeviceUse& use = answer.uses[i];
    absl::StrAppendFormat(
        &body, "<tr><td>%s<td>%d<td>%.1f %%<td>%.2f GiB<td>%.0f GiB<td class=\"l\">%s</tr>",
        EscapeHtml(devices.devices[i].name), use.operations,
        best.seconds > 0 ? 100 * use.busy_seconds / best.seconds : 0, use.peak_bytes / kGibi,
        devices.devices[i].memory_bytes / kGibi, EscapeHtml(use.groups));
  }
  return display::HtmlPage("Placement of " + graph.name, body + "</table>");
}

std::string PlacementText(const Graph& graph, const DeviceSet& devices, const PlaceAnswer& answer) {
  const Peer& best = answer.Best();
  nlohmann::json methods = nlohmann::json::array();
  for (const Peer& peer : answer.peers) methods.push_back(MethodJson(peer));
  nlohmann::json groups = nlohmann::json::object();
  for (std::size_t group = 0; group < graph.groups.size(); ++group) {
    groups[graph.groups[group]] = devices.devices[best.found.placement[group]].name;
  }
  const nlohmann::json file = {{"graph", graph.name},
                               {"method", best.method},
                               {"step_seconds", best.found.step.seconds},
                               {"placement", std::move(groups)},
                               {"methods", std::move(methods)}};
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace shoal::cli
