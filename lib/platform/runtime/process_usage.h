// SPDX-License-Identifier: Apache-2.0
// What processes take of their machine: processor time and resident memory, of this process also as
// metrics; and the memory that the machine has.
//
// The values are read from the kernel whenever somebody asks for them, so nothing has to keep them
// up to date. Thread-safe.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal::runtime {

// The time of this process in user and kernel mode, of all threads since it began.
double CpuSeconds();

// The resident memory of a process; 0 for one that is gone.
double ResidentBytes(pid_t pid);

// The physical memory of this machine, whatever a control group allows of it.
std::int64_t MachineBytes();

class ProcessUsage final : public prometheus::Collectable {
 public:
  static constexpr char kCpuSeconds[] = "shoal_process_cpu_seconds_total";
  static constexpr char kCpuSecondsHelp[] =
      "Processors that each program keeps busy, all its processes together.";
  static constexpr char kResidentBytes[] = "shoal_process_resident_bytes";
  static constexpr char kResidentBytesHelp[] =
      "Resident memory of a process of each program, the mean where there are several.";

  // `program` becomes the label of both.
  explicit ProcessUsage(std::string program) : program_(std::move(program)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::string program_;
};

}  // namespace shoal::runtime
