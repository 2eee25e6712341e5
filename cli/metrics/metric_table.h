// SPDX-License-Identifier: Apache-2.0
// The table of a cluster's metrics, as the processes that measure them describe them
// (runtime::MetricInfo). It decides which metrics the status line, metrics.jsonl, TensorBoard and
// the report show, and how.
//
// Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/metrics/metric_text.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct MetricRow {
  // The name in Prometheus, as in "shoal_learner_kl_nats".
  std::string name;
  // "counter", "gauge" or "histogram".
  std::string kind;
  std::string help;
  std::string group;
  std::string unit;
  std::string title;
  // "value", "rate", "shares", "labels" or "never".
  std::string draw;
  // The counter whose increase divides the increase of this one, or empty for none.
  std::string over;
  // The word before the value on the status line, or empty if it is not shown there.
  std::string status;

  // Returns the name of the metric in metrics.jsonl: the name without "shoal_" and "_total". A
  // metric that is drawn as shares has a value for each label or bucket, "<key>/<label>".
  std::string key() const;
};

class MetricTable {
 public:
  // Adds the metrics that one process describes. The first description of a name counts.
  void Update(const std::vector<MetricSample>& samples);

  // Rows by the names of their metrics.
  const std::map<std::string, MetricRow>& rows() const { return rows_; }

  // Convert to the JSON of the run directory and back. Parse returns INVALID_ARGUMENT for any other
  // text.
  std::string ToJson() const;
  static absl::StatusOr<MetricTable> Parse(const std::string& text);

 private:
  std::map<std::string, MetricRow> rows_;
};

}  // namespace shoal::cli
