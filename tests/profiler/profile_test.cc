// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "profiler/resnet50.h"

namespace shoal::profiler {
namespace {

placement::Device Slow() {
  return {.name = "lab",
          .memory_bytes = 8.0 * (1 << 30),
          .speed = 50e9,
          .kind_speed = {{"conv", 25e9}},
          .memory_speed = 10e9,
          .overhead = 4e-6};
}

TEST_CASE("the network that is trained has the parameters of ResNet-50 and learns") {
  at::set_num_threads(1);
  ResNet50 network(1);
  REQUIRE(network.parameters() == 25'557'032);
  const double first = network.Step();
  // About the logarithm of 1000 classes, before anything is learned.
  REQUIRE(first > 5);
  REQUIRE(first < 10);
  REQUIRE(network.Step() < first);
}

TEST_CASE("the file of a device is read by shoal place and tells what was measured") {
  const StepCheck check{.predicted_seconds = 0.55, .measured_seconds = 0.5};
  const std::string text = DeviceFile(Slow(), check);
  REQUIRE(text.find("predicted 550 ms, measured 500 ms") != std::string::npos);
  const placement::DeviceSet set = placement::ParseDevices(text, "cpu.toml").value();
  REQUIRE(set.devices.size() == 1);
  REQUIRE(set.devices[0].name == "lab");
  REQUIRE(set.devices[0].kind_speed.at("conv") == Approx(25e9));
}

TEST_CASE("a profile beside other work is said to be one") {
  const StepCheck busy{.predicted_seconds = 1, .measured_seconds = 3, .waited = 0.6};
  REQUIRE(Describe(Slow(), busy).find("other work had the processors for 60 % of the time") !=
          std::string::npos);
  const StepCheck quiet{.predicted_seconds = 1, .measured_seconds = 1, .waited = 0.01};
  REQUIRE(Describe(Slow(), quiet).find("other work") == std::string::npos);
}

TEST_CASE("a prediction that is more than a quarter off is said to be") {
  const auto says = [](double predicted) {
    return Describe(Slow(), {.predicted_seconds = predicted, .measured_seconds = 1});
  };
  REQUIRE(says(1.24).find("(+24.0 %)") != std::string::npos);
  REQUIRE(says(1.24).find("far off") == std::string::npos);
  REQUIRE(says(1.26).find("far off") != std::string::npos);
  REQUIRE(says(0.7).find("far off") != std::string::npos);
}

}  // namespace
}  // namespace shoal::profiler
