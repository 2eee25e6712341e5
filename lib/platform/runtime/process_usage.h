// SPDX-License-Identifier: Apache-2.0
// What this process takes of its machine, as metrics: processor time and resident memory.
//
// The values are read from the kernel whenever somebody asks for the metrics, so nothing has to
// keep them up to date. Thread-safe.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace shoal::runtime {

struct Usage {
  // In user and kernel mode, of all threads since the process began.
  double cpu_seconds = 0;
  double resident_bytes = 0;
};

// A value that the kernel does not tell is 0.
Usage ReadUsage();

class ProcessUsage final : public prometheus::Collectable {
 public:
  static constexpr char kCpuSeconds[] = "shoal_process_cpu_seconds_total";
  static constexpr char kResidentBytes[] = "shoal_process_resident_bytes";

  // `program` becomes the label of both.
  explicit ProcessUsage(std::string program) : program_(std::move(program)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::string program_;
};

}  // namespace shoal::runtime
