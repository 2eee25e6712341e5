// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/metrics.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "platform/runtime/process_usage.h"

namespace shoal::runtime {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what is said of a metric where it is made stands beside its values, once") {
  Metrics metrics;
  for (const char* queue : {"a", "b"}) {
    metrics
        .Gauge({.name = "shoal_queue_items",
                .help = "Items that wait.",
                .group = "queues",
                .title = "waiting",
                .status = "queue"},
               {{"queue", queue}})
        .Set(3);
  }
  const std::string text = metrics.Text();
  REQUIRE(Has(text, "shoal_queue_items{queue=\"b\"} 3"));
  const std::size_t line = text.find("shoal_metric_info{");
  REQUIRE(line != std::string::npos);
  const std::string info = text.substr(line, text.find('\n', line) - line);
  for (const char* part : {"metric=\"shoal_queue_items\"", "kind=\"gauge\"",
                           "help=\"Items that wait.\"", "group=\"queues\"", "unit=\"items\"",
                           "title=\"waiting\"", "draw=\"value\"", "status=\"queue\""}) {
    INFO(info);
    REQUIRE(Has(info, part));
  }
  REQUIRE_FALSE(Has(text.substr(line + 1), "shoal_metric_info{"));
}

TEST_CASE("a metric that is described by its name alone has a heading, a unit and words") {
  Metrics metrics;
  metrics.Histogram("shoal_store_write_seconds", "Time of a write.", {1, 2}).Observe(1);
  metrics.Counter("shoal_store_writes_total", "Writes.").Increment();
  const std::string text = metrics.Text();
  for (const char* part :
       {"group=\"store\"", "unit=\"s\"", "title=\"store write seconds\"", "title=\"store writes\"",
        "kind=\"histogram\"", "unit=\"per second\"", "draw=\"rate\""}) {
    REQUIRE(Has(text, part));
  }
}

TEST_CASE("the machine's memory is what the kernel says of it") {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kibibytes = 0;
  REQUIRE(file >> name >> kibibytes);
  REQUIRE(name == "MemTotal:");
  REQUIRE(MachineBytes() == kibibytes * 1024);
}

TEST_CASE("a process tells the processor time and the memory that it takes") {
  const double cpu_seconds = CpuSeconds();
  const double resident_bytes = ResidentBytes(::getpid());
  std::vector<char> memory(std::size_t{64} << 20, 1);
  double sum = 0;
  // The first pass keeps the memory in use even where filling it took all the time that is asked
  // for.
  do {
    for (const char byte : memory) sum += byte;
  } while (CpuSeconds() < cpu_seconds + 0.05);
  REQUIRE(sum > 0);
  const auto families = ProcessUsage("actor").Collect();
  REQUIRE(families.size() == 2);
  REQUIRE(families[0].name == ProcessUsage::kCpuSeconds);
  REQUIRE(families[0].metric[0].counter.value >= cpu_seconds + 0.05);
  REQUIRE(families[1].name == ProcessUsage::kResidentBytes);
  REQUIRE(families[1].metric[0].gauge.value >= resident_bytes + 48e6);
  for (const auto& family : families) REQUIRE(family.metric[0].label[0].value == "actor");
}

}  // namespace shoal::runtime
