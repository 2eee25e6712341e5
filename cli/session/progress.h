// SPDX-License-Identifier: Apache-2.0
// How training goes, from the cluster's metrics: rates over the last seconds, and the status line.
//
// Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "cli/session/metric_totals.h"

namespace shoal::cli {

struct Progress {
  // Since the start of the run.
  double seconds = 0;
  double environment_steps = 0;
  double environment_steps_per_second = 0;
  double updates = 0;
  // Share of the last episodes that reached their goal and changed nothing else.
  std::optional<double> success = std::nullopt;
  // Mean return of the last episodes.
  std::optional<double> mean_return = std::nullopt;
  // Publications between the version that acted and the one that learns, on average.
  std::optional<double> staleness = std::nullopt;
  // Every gauge, and the recent mean of every histogram, by metric name without "shoal_".
  std::map<std::string, double> details = {};
};

class ProgressTracker {
 public:
  // Without goals there is no success.
  explicit ProgressTracker(bool has_goals) : has_goals_(has_goals) {}

  // `seconds` since the start, ascending.
  Progress Observe(double seconds, const MetricTotals& totals);

 private:
  struct Point {
    double seconds = 0;
    std::map<std::string, double> counters;
  };
  const bool has_goals_;
  std::deque<Point> points_;
};

// How far a run is: nothing where it has no end.
struct Extent {
  std::optional<double> seconds = std::nullopt;
  std::optional<double> environment_steps = std::nullopt;
};

// Part done, 0 to 1, by whichever end is nearer; nothing without one.
std::optional<double> PartDone(const Progress& progress, const Extent& extent);

// One line, no newline: a bar of `bar_width` characters (0: none), then the numbers.
std::string StatusLine(const Progress& progress, const Extent& extent, int bar_width);

// One line of metrics.jsonl.
std::string ToJson(const Progress& progress);

}  // namespace shoal::cli
