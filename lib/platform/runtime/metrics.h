// SPDX-License-Identifier: Apache-2.0
// The process's metrics: each is described where it is measured, created once and exported for
// Prometheus.
//
// A description (MetricInfo) travels with its metric: beside the values, GET /metrics has one line
// shoal_metric_info{metric, kind, help, group, unit, title, draw, over, status} for each name. What
// `shoal` shows of a run (the status line, metrics.jsonl, TensorBoard, the report) is made of those
// lines, so a new metric is written down in one place.
//
// Names: shoal_<noun>_<unit>[_total]. Thread-safe; handles live as long as the Metrics they came
// from and may be used from any thread. Asking twice for the same name and labels gives the same
// handle.
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

// What becomes of a metric between two looks at it.
enum class Draw : std::uint8_t {
  // A gauge's value, and the mean of what a histogram took.
  kValue,
  // What a counter gains in a second.
  kRate,
  // Which part each label's counter has in what all of them gained: where time goes.
  kShares,
  // Nothing: the metric is for Prometheus alone.
  kNever,
};

struct MetricInfo {
  std::string name;
  // One sentence.
  std::string help;
  // The heading that it stands under; empty: the word after "shoal_" in its name.
  std::string group = {};
  // "s", "bytes", "rows", ...; empty: after the ending of its name, or none.
  std::string unit = {};
  // What people read; empty: its name without "shoal_" and "_total", in words.
  std::string title = {};
  // By default values of gauges and histograms are drawn, and counters are not.
  std::optional<Draw> draw = std::nullopt;
  // A counter by which what this one gained is divided: a mean over the last seconds.
  std::string over = {};
  // The word that stands before its value on the status line; empty: it is not there.
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
  // The same for what is described well enough by its name.
  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help,
                           const Labels& labels = {});
  // `bounds` ascending upper bounds of the buckets.
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const std::vector<double>& bounds, const Labels& labels = {});

  // All of them in Prometheus' text format.
  std::string Text() const;

  // Serves GET /metrics on "host:port" until destroyed; empty: not at all. FAILED_PRECONDITION
  // naming the address when it cannot be bound.
  absl::Status Expose(const std::string& address);

 private:
  void Describe(MetricInfo info, const std::string& kind) ABSL_LOCKS_EXCLUDED(mutex_);

  std::shared_ptr<prometheus::Registry> registry_;
  Mutex mutex_;
  // Names that have their line already.
  std::set<std::string> described_ ABSL_GUARDED_BY(mutex_);
  std::string address_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

// start, start*factor, ... `count` bounds.
std::vector<double> ExponentialBounds(double start, double factor, int count);

}  // namespace shoal::runtime
