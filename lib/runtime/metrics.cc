// SPDX-License-Identifier: Apache-2.0
#include "runtime/metrics.h"

#include <exception>

namespace shoal::runtime {

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {}

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help,
                                      const Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help,
                                  const Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds, const Labels& labels) {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*registry_)
      .Add(labels, bounds);
}

absl::Status Metrics::Expose(const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception& error) {
    return FailedPrecondition("cannot serve metrics on " + address + ": " + error.what());
  }
  exposer_->RegisterCollectable(registry_);
  return absl::OkStatus();
}

std::vector<double> ExponentialBounds(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(start);
    start *= factor;
  }
  return bounds;
}

}  // namespace shoal::runtime
