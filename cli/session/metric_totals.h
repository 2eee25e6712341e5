// SPDX-License-Identifier: Apache-2.0
// One cluster's metrics as one set of numbers: counters summed over processes and their restarts,
// gauges averaged over processes.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/session/metric_text.h"

namespace shoal::cli {

class MetricTotals {
 public:
  // Takes what one process says now. When one of its counters fell, it was started again and all of
  // them began at 0. What is called _sum counts as a counter, though it may fall.
  void Update(const std::string& process, const std::vector<MetricSample>& samples);

  // Sum over processes and labels; 0 when nobody has it.
  double Counter(const std::string& name) const;
  // Mean over processes and labels; nothing when nobody has it.
  std::optional<double> Gauge(const std::string& name) const;
  // The least over processes and labels; nothing when nobody has it.
  std::optional<double> LeastGauge(const std::string& name) const;
  // Every gauge's mean, by name.
  std::map<std::string, double> Gauges() const;
  // Every counter's sum, by name; histogram buckets left out.
  std::map<std::string, double> Counters() const;
  // The sums of one counter over processes, by the values of its labels, as in "idle" or "a/b".
  std::map<std::string, double> CounterByLabels(const std::string& name) const;

 private:
  struct Total {
    double last = 0;
    double sum = 0;
  };
  // By name, then by process and labels.
  std::map<std::string, std::map<std::string, Total>> counters_;
  std::map<std::string, std::map<std::string, double>> gauges_;
};

}  // namespace shoal::cli
