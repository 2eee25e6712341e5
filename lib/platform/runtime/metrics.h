// SPDX-License-Identifier: Apache-2.0
// The process's metrics: each is described where it is measured, created once and exported for
// Prometheus.
//
// A description (MetricInfo) travels with its metric: beside the values, GET /metrics has one line
// shoal_metric_info{metric, kind, help, group, unit, title, draw, over, status} for each name. What
// `shoal` shows of a run (the status line, metrics.jsonl, TensorBoard, the report) is derived from
// those lines, so a new metric is written down in one place.
//
// Names: shoal_<noun>_<unit>[_total]. Thread-safe; handles live as long as the Metrics object that
// made them and may be used from any thread. Asking twice for the same name and labels returns the
// same handle.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::runtime {

using Labels = std::map<std::string, std::string>;

// The value that is drawn of a metric for the time between two readings.
enum class Draw : std::uint8_t {
  // The value of a gauge, or the mean of a histogram's observations.
  kValue,
  // The increase of a counter per second.
  kRate,
  // The share of each label's counter in the increase of all of them; it shows where time goes. Of
  // a histogram it is the share of each bucket, under its upper bound.
  kShares,
  // The value of each label's gauge, or the increase per second of each label's counter, in one
  // chart.
  kLabels,
  // Nothing is drawn: the metric is for Prometheus alone.
  kNever,
};

struct MetricInfo {
  std::string name;
  // One sentence.
  std::string help;
  // The heading under which the metric stands; empty: the word after "shoal_" in its name.
  std::string group = {};
  // "s", "bytes", "rows", ...; empty: "per second" for a rate, otherwise the unit in which the name
  // ends, or none.
  std::string unit = {};
  // The title that people read; empty: the name without "shoal_" and "_total", in words.
  std::string title = {};
  // Without a value it is kRate for a counter without `over`, and kValue for all others.
  std::optional<Draw> draw = std::nullopt;
  // The name of a counter whose increase divides this one's, which gives a mean over the last
  // seconds.
  std::string over = {};
  // The word before the metric's value on the status line; empty: the metric is not there.
  std::string status = {};
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  prometheus::Counter& Counter(const MetricInfo& info, const Labels& labels = {});
  prometheus::Gauge& Gauge(const MetricInfo& info, const Labels& labels = {});
  // `bounds` are the upper bounds of the buckets, ascending.
  prometheus::Histogram& Histogram(const MetricInfo& info, const std::vector<double>& bounds,
                                   const Labels& labels = {});
  // These overloads are for a metric that its name describes well enough.
  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help,
                           const Labels& labels = {});
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const std::vector<double>& bounds, const Labels& labels = {});

  // Returns all metrics in Prometheus' text format.
  std::string Text() const;

  // Serves GET /metrics on `address`, "host:port", until this object is destroyed; an empty address
  // serves nothing. FAILED_PRECONDITION naming the address when it cannot be bound. The first of a
  // process also serves what the process takes of its machine (process_usage.h).
  absl::Status Expose(const std::string& address);

  // Serves what the GPU `device` is doing, too (gpu_usage.h), before or after Expose. Serves
  // nothing for another device than "cuda:<n>", and logs why where the GPU cannot be asked.
  void ExposeGpu(const std::string& device) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Describe(MetricInfo info, const std::string& kind) ABSL_LOCKS_EXCLUDED(mutex_);
  void ExposeProcess() ABSL_LOCKS_EXCLUDED(mutex_);

  std::shared_ptr<prometheus::Registry> registry_;
  Mutex mutex_;
  // The names whose shoal_metric_info line exists already.
  std::set<std::string> described_ ABSL_GUARDED_BY(mutex_);
  std::string address_;
  // Null unless this is the one that tells of the process.
  std::shared_ptr<prometheus::Collectable> usage_;
  // Null unless there is a GPU to tell of.
  std::shared_ptr<prometheus::Collectable> gpu_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

// Returns `count` bounds: start, start*factor, ...
std::vector<double> ExponentialBounds(double start, double factor, int count);

}  // namespace shoal::runtime
