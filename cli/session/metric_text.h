// SPDX-License-Identifier: Apache-2.0
// What a process's metrics endpoint says, read back from Prometheus' text format.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// The metric whose labels say what another metric is (platform/runtime/metrics.h).
inline constexpr char kMetricInfo[] = "shoal_metric_info";

struct MetricSample {
  // With _sum, _count or _bucket for histograms.
  std::string name;
  std::map<std::string, std::string> labels;
  // False for gauges: a counter never falls while its process lives.
  bool counter = false;
  double value = 0;
};

// INVALID_ARGUMENT naming the line that does not parse.
absl::StatusOr<std::vector<MetricSample>> ParseMetricText(std::string_view text);

// GET /metrics of "host:port". Blocks at most half a second.
absl::StatusOr<std::vector<MetricSample>> ScrapeMetrics(const std::string& address);

}  // namespace shoal::cli
