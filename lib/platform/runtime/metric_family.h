// SPDX-License-Identifier: Apache-2.0
// One value of a metric that is read when somebody asks for it.
#pragma once

#include <prometheus/metric_family.h>

#include <string>

namespace shoal::runtime {

// Returns the metric with one value under one label. REQUIRES: `type` is Counter or Gauge.
prometheus::MetricFamily FamilyOf(const char* name, const char* help, prometheus::MetricType type,
                                  double value, const prometheus::ClientMetric::Label& label);

}  // namespace shoal::runtime
