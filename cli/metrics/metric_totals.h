// SPDX-License-Identifier: Apache-2.0
// The metrics of a cluster as one set of numbers: counters are summed over processes and their
// restarts, gauges are averaged over processes.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/metrics/metric_text.h"

namespace shoal::cli {

class MetricTotals {
 public:
  // Takes what one process reports now. When one of its counters has fallen, the process was
  // started again and all its counters began at 0. A name that ends in _sum counts as a counter,
  // though it may fall.
  void Update(const std::string& process, const std::vector<MetricSample>& samples);

  // Returns the sum over processes and labels, or 0 when no process has the counter.
  double Counter(const std::string& name) const;
  // Returns the mean over processes and labels, or nothing when no process has the gauge.
  std::optional<double> Gauge(const std::string& name) const;
  // Returns the means of one gauge over processes by the values of its labels, as in "unrolls".
  std::map<std::string, double> GaugeByLabels(const std::string& name) const;
  // Returns the least value over processes and labels, or nothing when no process has the gauge.
  std::optional<double> LeastGauge(const std::string& name) const;
  // Returns the mean of every gauge by name.
  std::map<std::string, double> Gauges() const;
  // Returns the sum of every counter by name, without histogram buckets.
  std::map<std::string, double> Counters() const;
  // Returns how many observations of a histogram fell into each bucket, by the bucket's upper bound
  // as in "0.5" or "+Inf". It is empty for a histogram with labels.
  std::map<std::string, double> Buckets(const std::string& name) const;
  // Returns the sums of one counter over processes by the values of its labels, as in "idle" or
  // "a/b".
  std::map<std::string, double> CounterByLabels(const std::string& name) const;

 private:
  struct Total {
    double last = 0;
    double sum = 0;
  };
  // Both by name, then by process and labels.
  std::map<std::string, std::map<std::string, Total>> counters_;
  std::map<std::string, std::map<std::string, double>> gauges_;
};

}  // namespace shoal::cli
