// SPDX-License-Identifier: Apache-2.0
// The progress of training, from the cluster's metrics: rates over the last seconds, and the status
// line.
//
// Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/metrics/metric_table.h"
#include "cli/metrics/metric_totals.h"
#include "platform/display/live_line.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct Progress {
  // Seconds since the start of the run.
  double seconds = 0;
  double environment_steps = 0;
  double environment_steps_per_second = 0;
  double updates = 0;
  // The metrics on the status line: the word of each, and its value.
  std::vector<std::pair<std::string, double>> status = {};
  // The value of every metric that is drawn, under its key (metric_table.h): gauges, recent means
  // of histograms, and recent rates and shares of counters.
  std::map<std::string, double> details = {};
};

class ProgressTracker {
 public:
  // Without goals, metrics whose status is "success" are not shown.
  explicit ProgressTracker(bool has_goals) : has_goals_(has_goals) {}

  // Takes the metrics at `seconds` since the start of the run. REQUIRES: `seconds` ascends.
  Progress Observe(double seconds, const MetricTotals& totals, const MetricTable& table);

 private:
  struct Point {
    double seconds = 0;
    std::map<std::string, double> counters;
    // Counters that are drawn by their labels, by name and labels, and histograms by name and
    // bucket.
    std::map<std::string, std::map<std::string, double>> parts;
  };
  void AddValue(const MetricRow& row, const MetricTotals& totals, Progress& progress) const;
  // Returns the first point of the last `seconds`.
  const Point& Since(double seconds) const;
  const bool has_goals_;
  std::deque<Point> points_;
};

// The bounds at which a run ends. A bound that the run does not have is nothing.
struct Extent {
  std::optional<double> seconds = std::nullopt;
  std::optional<double> environment_steps = std::nullopt;
};

// Returns how much of the run is done, 0 to 1, by the bound that is nearer, or nothing without a
// bound.
std::optional<double> PartDone(const Progress& progress, const Extent& extent);

// Returns one line without a newline: a bar of `bar_width` characters (0 for none), then the
// numbers.
std::string StatusLine(const Progress& progress, const Extent& extent, int bar_width);

// Returns one line of metrics.jsonl.
std::string ToJson(const Progress& progress);
// Returns seconds, environment steps and updates of such a line. DATA_LOSS if it has not all three,
// or one that cannot be.
absl::StatusOr<Progress> ParseProgress(const std::string& line);

// Shows a person how a run goes: keeps the status line (progress.h) up to date on a live line
// (live_line.h).
//
// Not thread-safe.
class StatusDisplay {
 public:
  StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock);

  void Show(const Progress& progress, const Extent& extent);
  // Shows another line, about work other than training.
  void Show(const std::string& line);
  // Prints a line that stays.
  void Note(const std::string& text);

 private:
  display::LiveLine line_;
};

}  // namespace shoal::cli
