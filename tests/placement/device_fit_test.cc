// SPDX-License-Identifier: Apache-2.0
#include "placement/device_fit.h"

#include <catch2/catch.hpp>

namespace shoal::placement {
namespace {

Device Known() {
  return {.name = "cpu",
          .memory_bytes = 1e9,
          .speed = 0,
          .kind_speed = {},
          .memory_speed = 10e9,
          .overhead = 5e-6};
}

// Operations of several sizes, timed on a device whose kinds have these speeds. An operation of a
// kind reads and writes one byte for each `intensity` operations of arithmetic.
void Time(const std::string& kind, double speed, double intensity,
          std::vector<TimedOperation>& timed) {
  Device device = Known();
  device.kind_speed[kind] = speed;
  for (const double flops : {1e6, 3e7, 2e8}) {
    const double bytes = flops / intensity;
    timed.push_back({kind, flops, bytes, device.Seconds(kind, flops, bytes)});
  }
}

TEST_CASE("speeds by kind are those of the device on which operations were timed") {
  std::vector<TimedOperation> timed;
  Time("conv", 80e9, 50, timed);
  Time("matmul", 120e9, 100, timed);
  Device device = Known();
  REQUIRE(FitSpeeds(timed, device).ok());
  REQUIRE(device.kind_speed.size() == 2);
  REQUIRE(device.kind_speed["conv"] == Approx(80e9));
  REQUIRE(device.kind_speed["matmul"] == Approx(120e9));
  // What was not timed is as fast as the fastest operation, which has the least overhead.
  REQUIRE(device.speed < 120e9);
  REQUIRE(device.speed > 119e9);
}

TEST_CASE("a kind whose bytes take as long has no speed of its own") {
  std::vector<TimedOperation> timed;
  Time("matmul", 120e9, 100, timed);
  Time("elementwise", 500e9, 0.1, timed);
  Device device = Known();
  REQUIRE(FitSpeeds(timed, device).ok());
  REQUIRE(device.kind_speed.count("elementwise") == 0);
  for (const TimedOperation& it : timed) {
    REQUIRE(device.Seconds(it.kind, it.flops, it.bytes) == Approx(it.seconds).epsilon(0.01));
  }
}

TEST_CASE("a kind whose operations differ in speed takes as long altogether as it took") {
  Device device = Known();
  const std::vector<TimedOperation> timed = {
      {"norm", 1e8, 1e6, 0.010}, {"norm", 1e8, 5e8, 0.060}, {"norm", 2e8, 1e6, 0.015}};
  REQUIRE(FitSpeeds(timed, device).ok());
  double predicted = 0;
  for (const TimedOperation& it : timed) predicted += device.Seconds(it.kind, it.flops, it.bytes);
  REQUIRE(predicted == Approx(0.085));
  // The second is bound by memory, 50 ms; the others have 35 ms for 3e8.
  REQUIRE(device.kind_speed["norm"] == Approx(3e8 / (0.035 - 3 * 5e-6)).epsilon(0.001));
}

TEST_CASE("what was not timed is refused") {
  Device device = Known();
  const std::vector<TimedOperation> timeless = {{"conv", 1, 1, 0}};
  REQUIRE(absl::IsInvalidArgument(FitSpeeds(timeless, device)));
  REQUIRE(runtime::Message(FitSpeeds(timeless, device)).find("conv") != std::string::npos);
  REQUIRE(absl::IsInvalidArgument(FitSpeeds({}, device)));
  device.memory_speed = 0;
  REQUIRE(absl::IsInvalidArgument(FitSpeeds(std::vector<TimedOperation>{{"a", 1, 1, 1}}, device)));
}

}  // namespace
}  // namespace shoal::placement
