// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "platform/runtime/metric_family.h"

namespace shoal::runtime {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double CpuSeconds() {
  rusage own{};
  if (::getrusage(RUSAGE_SELF, &own) != 0) return 0;
  return SecondsOf(own.ru_utime) + SecondsOf(own.ru_stime);
}

double ResidentBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  double pages = 0;
  double resident = 0;
  if (!(file >> pages >> resident)) return 0;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::int64_t MachineBytes() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
}

std::vector<prometheus::MetricFamily> ProcessUsage::Collect() const {
  const prometheus::ClientMetric::Label label = {"program", program_};
  return {
      FamilyOf(kCpuSeconds, kCpuSecondsHelp, prometheus::MetricType::Counter, CpuSeconds(), label),
      FamilyOf(kResidentBytes, kResidentBytesHelp, prometheus::MetricType::Gauge,
               ResidentBytes(::getpid()), label)};
}

}  // namespace shoal::runtime
