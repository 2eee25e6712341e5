// SPDX-License-Identifier: Apache-2.0
// The process's metrics: created once, exported for Prometheus.
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
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::runtime {

using Labels = std::map<std::string, std::string>;

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help,
                           const Labels& labels = {});
  // `bounds` ascending upper bounds of the buckets.
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const std::vector<double>& bounds, const Labels& labels = {});

  // Serves GET /metrics on "host:port" until destroyed; empty: not at all. FAILED_PRECONDITION
  // naming the address when it cannot be bound.
  absl::Status Expose(const std::string& address);

 private:
  std::shared_ptr<prometheus::Registry> registry_;
  std::string address_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

// start, start*factor, ... `count` bounds.
std::vector<double> ExponentialBounds(double start, double factor, int count);

}  // namespace shoal::runtime
