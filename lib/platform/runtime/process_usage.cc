// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <utility>

namespace shoal::runtime {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

prometheus::MetricFamily Family(const char* name, const char* help, prometheus::MetricType type,
                                prometheus::ClientMetric metric) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  family.metric.push_back(std::move(metric));
  return family;
}

}  // namespace

Usage ReadUsage() {
  Usage usage;
  rusage own{};
  if (::getrusage(RUSAGE_SELF, &own) == 0) {
    usage.cpu_seconds = SecondsOf(own.ru_utime) + SecondsOf(own.ru_stime);
  }
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  if (file >> pages >> resident) {
    usage.resident_bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  return usage;
}

std::vector<prometheus::MetricFamily> ProcessUsage::Collect() const {
  const Usage usage = ReadUsage();
  prometheus::ClientMetric cpu;
  cpu.label = {{"program", program_}};
  cpu.counter.value = usage.cpu_seconds;
  prometheus::ClientMetric resident;
  resident.label = {{"program", program_}};
  resident.gauge.value = usage.resident_bytes;
  return {Family(kCpuSeconds, "Processor time of the process.", prometheus::MetricType::Counter,
                 std::move(cpu)),
          Family(kResidentBytes, "Resident memory of the process.", prometheus::MetricType::Gauge,
                 std::move(resident))};
}

}  // namespace shoal::runtime
