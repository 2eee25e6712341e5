// SPDX-License-Identifier: Apache-2.0
// Reads what a process's metrics endpoint returns, in Prometheus' text format.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// The metric whose labels describe another metric (platform/runtime/metrics.h).
inline constexpr char kMetricInfo[] = "shoal_metric_info";

struct MetricSample {
  // For histograms the name ends in _sum, _count or _bucket.
  std::string name;
  std::map<std::string, std::string> labels;
  // False for gauges. A counter never falls while its process lives.
  bool counter = false;
  double value = 0;
};

// Returns INVALID_ARGUMENT naming the line that does not parse.
absl::StatusOr<std::vector<MetricSample>> ParseMetricText(std::string_view text);

// Sends GET /metrics to "host:port" and parses the answer. Blocks at most half a second.
absl::StatusOr<std::vector<MetricSample>> ScrapeMetrics(const std::string& address);

}  // namespace shoal::cli
