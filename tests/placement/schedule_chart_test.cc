// SPDX-License-Identifier: Apache-2.0
#include "placement/schedule_chart.h"

#include <catch2/catch.hpp>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("a schedule has a lane for each device and used channel, and a titled bar for each run") {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  AddOperation(graph, 1, 1, {0});
  graph.operations[0].name = "<first>";
  const DeviceSet devices = EqualDevices(2, 100);
  Simulator simulator = Simulator::Create(graph, devices).value();
  const double seconds = simulator.Run({0, 1}).value().seconds;
  const std::string svg = DrawSchedule(graph, devices, {0, 1}, simulator, seconds);
  REQUIRE(Occurrences(svg, "<svg") == 1);
  REQUIRE(Occurrences(svg, ">device 0<") == 1);
  REQUIRE(Occurrences(svg, ">device 1<") == 1);
  REQUIRE(Occurrences(svg, ">channel 1<") == 1);
  REQUIRE(Occurrences(svg, ">channel 0<") == 0);
  REQUIRE(Occurrences(svg, "<title>&lt;first&gt;</title>") == 1);
  REQUIRE(Occurrences(svg, "<title>&lt;first&gt; to device 1</title>") == 1);
  REQUIRE(Occurrences(svg, "<first>") == 0);
}

TEST_CASE("the picture of a hundred thousand operations is no larger than the lanes are wide") {
  Graph graph;
  graph.groups = {"all"};
  graph.operations.resize(100'000);
  for (Operation& operation : graph.operations) operation.flops = 1;
  const DeviceSet devices = EqualDevices(1, 100);
  Simulator simulator = Simulator::Create(graph, devices).value();
  const double seconds = simulator.Run({0}).value().seconds;
  REQUIRE(Occurrences(DrawSchedule(graph, devices, {0}, simulator, seconds), "<rect") < 3'000);
}

TEST_CASE("a step that takes no time has a picture too") {
  Graph graph;
  AddOperation(graph, 0, 0, {});
  const DeviceSet devices = EqualDevices(1, 100);
  Simulator simulator = Simulator::Create(graph, devices).value();
  REQUIRE(simulator.Run({0}).value().seconds == 0);
  REQUIRE(Occurrences(DrawSchedule(graph, devices, {0}, simulator, 0), "nan") == 0);
}

}  // namespace
}  // namespace shoal::placement
