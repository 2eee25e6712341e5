// SPDX-License-Identifier: Apache-2.0
#include "placement/schedule_chart.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "platform/display/line_chart.h"

namespace shoal::placement {
namespace {

constexpr double kWidth = 1400;
constexpr double kLabels = 230;
constexpr double kRight = 40;
constexpr double kTop = 44;
constexpr double kLane = 22;
constexpr int kTicks = 8;
// Forward, backward, update, transfer.
constexpr std::array<const char*, 4> kColours = {"#3b7dd8", "#e08a2b", "#5a9e4b", "#8a63c4"};
constexpr std::array<const char*, 4> kNames = {"forward", "backward", "update", "transfer"};

struct Bar {
  double start = 0;
  double finish = 0;
  std::size_t colour = 0;
  std::string title;
};

using Lanes = std::vector<std::pair<std::string, std::vector<Bar>>>;

Lanes LanesOf(const Graph& graph, const DeviceSet& devices, const Placement& placement,
              const Simulator& simulator) {
  Lanes lanes;
  for (const Device& device : devices.devices) lanes.push_back({device.name, {}});
  const std::vector<OperationRun> runs = simulator.Runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Operation& operation = graph.operations[i];
    lanes[placement[operation.group]].second.push_back(
        {.start = runs[i].start,
         .finish = runs[i].finish,
         .colour = static_cast<std::size_t>(operation.phase),
         .title = operation.name});
  }
  std::map<std::size_t, std::vector<Bar>> by_channel;
  for (const Transfer& transfer : simulator.Transfers()) {
    by_channel[transfer.channel].push_back({.start = transfer.start,
                                            .finish = transfer.finish,
                                            .colour = kColours.size() - 1,
                                            .title = graph.operations[transfer.operation].name +
                                                     " to " + devices.devices[transfer.to].name});
  }
  for (auto& [channel, bars] : by_channel) {
    lanes.push_back({devices.channels[channel].name, std::move(bars)});
  }
  for (auto& [name, bars] : lanes) {
    std::sort(bars.begin(), bars.end(),
              [](const Bar& a, const Bar& b) { return a.start < b.start; });
  }
  return lanes;
}

void DrawBars(const std::vector<Bar>& bars, double y, double scale, std::string& svg) {
  for (std::size_t i = 0; i < bars.size();) {
    const double left = bars[i].start * scale;
    double right = bars[i].finish * scale;
    std::size_t next = i + 1;
    while (next < bars.size() && bars[next].colour == bars[i].colour &&
           std::max(right, bars[next].finish * scale) - left < 1 &&
           bars[next].start * scale - right < 0.5) {
      right = std::max(right, bars[next++].finish * scale);
    }
    const std::string title =
        next - i > 1 ? absl::StrFormat("%d operations from %s", next - i, bars[i].title)
                     : bars[i].title;
    absl::StrAppendFormat(
        &svg,
        R"(<rect x="%.2f" y="%.0f" width="%.2f" height="%.0f" fill="%s"><title>%s</title></rect>)",
        kLabels + left, y, std::max(0.2, right - left), kLane - 4, kColours[bars[i].colour],
        display::EscapeHtml(title));
    i = next;
  }
}

}  // namespace

std::string DrawSchedule(const Graph& graph, const DeviceSet& devices, const Placement& placement,
                         const Simulator& simulator, double seconds) {
  const Lanes lanes = LanesOf(graph, devices, placement, simulator);
  const double bottom = kTop + kLane * static_cast<double>(lanes.size());
  const double scale = seconds > 0 ? (kWidth - kLabels - kRight) / seconds : 0;
  std::string svg = absl::StrFormat(
      R"(<svg viewBox="0 0 %.0f %.0f" role="img"><title>schedule</title>)", kWidth, bottom + 8);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const double x = kLabels + 110 * static_cast<double>(i);
    absl::StrAppendFormat(&svg,
                          R"(<rect x="%.0f" y="6" width="12" height="12" fill="%s"/>)"
                          R"(<text class="t" x="%.0f" y="16">%s</text>)",
                          x, kColours[i], x + 17, kNames[i]);
  }
  for (int i = 0; i <= kTicks; ++i) {
    const double time = seconds * i / kTicks;
    const double x = kLabels + time * scale;
    absl::StrAppendFormat(
        &svg,
        R"(<line class="g" x1="%.1f" x2="%.1f" y1="%.0f" y2="%.0f"/><text class="t" x="%.1f" y="%.0f" text-anchor="middle">%.4g ms</text>)",
        x, x, kTop - 4, bottom, x, kTop - 8, time * 1e3);
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double y = kTop + kLane * static_cast<double>(i);
    absl::StrAppendFormat(&svg, R"(<text class="t" x="%.0f" y="%.0f" text-anchor="end">%s</text>)",
                          kLabels - 8, y + 13, display::EscapeHtml(lanes[i].first));
    DrawBars(lanes[i].second, y, scale, svg);
  }
  return svg + "</svg>";
}

}  // namespace shoal::placement
