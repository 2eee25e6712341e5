// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/metric_family.h"

#include <utility>

namespace shoal::runtime {

prometheus::MetricFamily FamilyOf(const char* name, const char* help, prometheus::MetricType type,
                                  double value, const prometheus::ClientMetric::Label& label) {
  prometheus::ClientMetric metric;
  metric.label = {label};
  (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  family.metric.push_back(std::move(metric));
  return family;
}

}  // namespace shoal::runtime
