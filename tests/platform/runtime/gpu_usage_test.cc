// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/gpu_usage.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "platform/runtime/metrics.h"

namespace shoal::runtime {
namespace {

// Built from fake_nvml.cc.
constexpr char kLibrary[] = SHOAL_FAKE_NVML;

std::map<std::string, double> Values(const GpuUsage& usage, const std::string& gpu) {
  std::map<std::string, double> values;
  for (const auto& family : usage.Collect()) {
    REQUIRE(family.metric.size() == 1);
    REQUIRE(family.metric[0].label[0].name == "gpu");
    REQUIRE(family.metric[0].label[0].value == gpu);
    values[family.name] = family.metric[0].gauge.value;
  }
  return values;
}

}  // namespace

TEST_CASE("a GPU tells how busy it is, its memory, power and temperature") {
  const auto usage = GpuUsage::Open("cuda:0", {.library = kLibrary});
  REQUIRE(usage.ok());
  REQUIRE(Values(**usage, "0") ==
          std::map<std::string, double>{{"shoal_gpu_busy_ratio", 0.25},
                                        {"shoal_gpu_used_bytes", 40},
                                        {"shoal_gpu_power_watts", 350.5},
                                        {"shoal_gpu_temperature_celsius", 41}});
}

TEST_CASE("what a GPU does not tell is left out") {
  const auto usage = GpuUsage::Open("cuda:1", {.library = kLibrary});
  REQUIRE(usage.ok());
  REQUIRE(Values(**usage, "1") ==
          std::map<std::string, double>{{"shoal_gpu_busy_ratio", 0.75},
                                        {"shoal_gpu_used_bytes", 50},
                                        {"shoal_gpu_temperature_celsius", 52}});
}

TEST_CASE("several GPUs tell each metric once, with a value for each of them") {
  GpuUsages usages;
  for (const char* const device : {"cuda:0", "cuda:1", "cuda:0"}) {
    usages.Add(*GpuUsage::Open(device, {.library = kLibrary}));
  }
  std::map<std::string, std::map<std::string, double>> values;
  for (const auto& family : usages.Collect()) {
    REQUIRE_FALSE(values.contains(family.name));
    for (const auto& metric : family.metric) {
      REQUIRE(values[family.name].emplace(metric.label[0].value, metric.gauge.value).second);
    }
  }
  using OfGpus = std::map<std::string, double>;
  REQUIRE(values.size() == 4);
  REQUIRE(values["shoal_gpu_busy_ratio"] == OfGpus{{"0", 0.25}, {"1", 0.75}});
  REQUIRE(values["shoal_gpu_power_watts"] == OfGpus{{"0", 350.5}});
}

TEST_CASE("the GPU is the one that CUDA shows under that number") {
  for (const char* const visible : {"1,0", "1", "GPU-bbbb-2,GPU-aaaa-1", "GPU-b", " 1 ,0"}) {
    const auto usage = GpuUsage::Open("cuda:0", {.library = kLibrary, .visible = visible});
    INFO(visible);
    REQUIRE(usage.ok());
    REQUIRE(Values(**usage, "1").at("shoal_gpu_used_bytes") == 50);
  }
}

TEST_CASE(
    "a GPU that is not there, a wrong name and a library that is none are errors with names") {
  const auto code = [](const char* device, const GpuUsage::Source& source) {
    return GpuUsage::Open(device, source).status().code();
  };
  REQUIRE(code("cuda:2", {.library = kLibrary}) == absl::StatusCode::kNotFound);
  REQUIRE(code("cuda:1", {.library = kLibrary, .visible = "0"}) == absl::StatusCode::kNotFound);
  REQUIRE(code("cuda:0", {.library = kLibrary, .visible = ""}) == absl::StatusCode::kNotFound);
  REQUIRE(code("cuda:0", {.library = kLibrary, .visible = "GPU-c"}) == absl::StatusCode::kNotFound);
  for (const char* const device : {"cpu", "cuda", "cuda:", "cuda:x", "cuda:-1", ""}) {
    INFO(device);
    REQUIRE(code(device, {.library = kLibrary}) == absl::StatusCode::kInvalidArgument);
  }
  REQUIRE(code("cuda:0", {.library = "no-such-library.so"}) ==
          absl::StatusCode::kFailedPrecondition);
  REQUIRE(code("cuda:0", {.library = "libc.so.6"}) == absl::StatusCode::kFailedPrecondition);
  ::setenv("FAKE_NVML_FAILS", "1", 1);
  const auto failed = GpuUsage::Open("cuda:0", {.library = kLibrary}).status();
  ::unsetenv("FAKE_NVML_FAILS");
  REQUIRE(failed.code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(Message(failed).find("Driver Not Loaded") != std::string::npos);
}

TEST_CASE("metrics of a process without a GPU are served as before") {
  Metrics metrics;
  metrics.ExposeGpu("cpu");
  REQUIRE(metrics.Text().find("shoal_gpu") == std::string::npos);
}

}  // namespace shoal::runtime
