// SPDX-License-Identifier: Apache-2.0
// The table of a cluster's metrics: what each is, in the words of the process that measures it
// (runtime::MetricInfo). It decides what the status line, metrics.jsonl, TensorBoard and the report
// show, and how.
//
// Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/session/metric_text.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct MetricRow {
  // As in Prometheus: "shoal_learner_kl_nats".
  std::string name;
  // "counter", "gauge" or "histogram".
  std::string kind;
  std::string help;
  std::string group;
  std::string unit;
  std::string title;
  // "value", "rate", "shares" or "never".
  std::string draw;
  // The counter by which gains of this one are divided; empty: none.
  std::string over;
  // The word before its value on the status line; empty: it is not there.
  std::string status;

  // What its values are called in metrics.jsonl: the name without "shoal_" and "_total". One that
  // is drawn as shares has a value for each label, "<key>/<label>".
  std::string key() const;
};

class MetricTable {
 public:
  // Takes in what one process says of its metrics. The first to describe a name counts.
  void Update(const std::vector<MetricSample>& samples);

  // By name.
  const std::map<std::string, MetricRow>& rows() const { return rows_; }

  // As JSON for the run directory, and back. INVALID_ARGUMENT when `text` is something else.
  std::string ToJson() const;
  static absl::StatusOr<MetricTable> Parse(const std::string& text);

 private:
  std::map<std::string, MetricRow> rows_;
};

}  // namespace shoal::cli
