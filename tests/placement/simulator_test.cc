// SPDX-License-Identifier: Apache-2.0
#include "placement/simulator.h"

#include <catch2/catch.hpp>

#include "placement/graph_file.h"
#include "reference_schedule.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

Simulator Make(const Graph& graph, const DeviceSet& devices) {
  absl::StatusOr<Simulator> simulator = Simulator::Create(graph, devices);
  REQUIRE(simulator.ok());
  return *std::move(simulator);
}

std::string SimulatorError(const Graph& graph, const DeviceSet& devices) {
  const absl::StatusOr<Simulator> simulator = Simulator::Create(graph, devices);
  REQUIRE(absl::IsInvalidArgument(simulator.status()));
  return runtime::Message(simulator.status());
}

TEST_CASE("the schedules of 10,000 random small graphs are those of a plain implementation") {
  runtime::Random random(1);
  std::size_t with_transfers = 0;
  std::size_t out_of_memory = 0;
  for (int i = 0; i < 10'000;) {
    const Graph graph = RandomGraph(random, 10, 6);
    DeviceSet devices = RandomDevices(random, 4);
    for (Device& device : devices.devices) {
      device.memory_bytes = static_cast<double>(5 + random.Below(36));
    }
    const Placement placement =
        RandomPlacement(random, graph.groups.size(), devices.devices.size());
    absl::StatusOr<Simulator> created = Simulator::Create(graph, devices);
    if (absl::IsInvalidArgument(created.status())) continue;  // a group that no device can hold
    ++i;
    Simulator simulator = *std::move(created);
    const Step step = simulator.Run(placement).value();
    const ReferenceSchedule expected =
        ScheduleByReference(graph, devices, placement, simulator.by_priority());
    bool same = step.seconds == expected.seconds && step.excess == expected.excess;
    const std::vector<OperationRun> runs = simulator.Runs();
    for (std::size_t j = 0; j < runs.size(); ++j) {
      same = same && runs[j].start == expected.runs[j].start &&
             runs[j].finish == expected.runs[j].finish;
    }
    const std::vector<Transfer> transfers = simulator.Transfers();
    same = same && transfers.size() == expected.transfers.size();
    for (std::size_t j = 0; same && j < transfers.size(); ++j) {
      const Transfer& one = transfers[j];
      const Transfer& other = expected.transfers[j];
      same = one.operation == other.operation && one.to == other.to &&
             one.channel == other.channel && one.bytes == other.bytes && one.start == other.start &&
             one.finish == other.finish;
    }
    for (std::size_t j = 0; j < expected.peak_bytes.size(); ++j) {
      same = same && simulator.peak_bytes()[j] == expected.peak_bytes[j];
    }
    if (!transfers.empty()) ++with_transfers;
    if (!step.fits()) ++out_of_memory;
    INFO("graph " << i << ": " << step.seconds << " and " << expected.seconds << " seconds, excess "
                  << step.excess << " and " << expected.excess);
    REQUIRE(same);
  }
  REQUIRE(with_transfers > 4'000);
  REQUIRE(out_of_memory > 1'000);
  REQUIRE(out_of_memory < 9'000);
}

TEST_CASE("operations are ordered by their upward rank, inputs first") {
  runtime::Random random(2);
  for (int i = 0; i < 500; ++i) {
    const Graph graph = RandomGraph(random, 10, 6);
    const DeviceSet devices = RandomDevices(random, 4);
    const Simulator simulator = Make(graph, devices);
    const std::vector<double> rank = ReferenceRanks(graph, devices);
    std::vector<bool> seen(rank.size());
    double last = 1e300;
    for (const std::size_t operation : simulator.by_priority()) {
      REQUIRE(rank[operation] <= last + 1e-9);
      last = rank[operation];
      for (const Input& input : graph.operations[operation].inputs) REQUIRE(seen[input.from]);
      seen[operation] = true;
    }
  }
}

TEST_CASE("in a fixed order, nothing gets slower when devices and channels get faster") {
  runtime::Random random(3);
  for (int i = 0; i < 3'000; ++i) {
    const Graph graph = RandomGraph(random, 30, 10);
    const DeviceSet devices = RandomDevices(random, 4);
    Simulator simulator = Make(graph, devices);
    const double seconds =
        simulator.Run(RandomPlacement(random, graph.groups.size(), devices.devices.size()))
            .value()
            .seconds;
    std::vector<double> of_devices(devices.devices.size(), 1);
    std::vector<double> of_channels(devices.channels.size(), 1);
    REQUIRE(simulator.RetimedSeconds(of_devices, of_channels) == seconds);
    double last = seconds;
    for (int step = 0; step < 5; ++step) {
      for (double& speedup : of_devices) speedup *= 1 + random.Uniform();
      for (double& speedup : of_channels) speedup *= 1 + random.Uniform();
      const double faster = simulator.RetimedSeconds(of_devices, of_channels);
      REQUIRE(faster <= last);
      last = faster;
    }
  }
}

TEST_CASE("transfers overlap with work, and one channel sends one after the other") {
  Graph graph;
  AddOperation(graph, 2, 3, {});   // 0 .. 2, then 3 bytes take 3 seconds
  AddOperation(graph, 4, 1, {});   // meanwhile 2 .. 6
  AddOperation(graph, 1, 0, {0});  // on the other device 5 .. 6
  AddOperation(graph, 1, 0, {1});  // arrives at 7
  Simulator simulator = Make(graph, EqualDevices(2, 100));
  REQUIRE(simulator.by_priority() == std::vector<std::size_t>{0, 1, 2, 3});
  REQUIRE(simulator.Run({0, 0, 1, 1}).value().seconds == 8);
  const std::vector<OperationRun> runs = simulator.Runs();
  REQUIRE(runs[2].start == 5);
  REQUIRE(runs[3].start == 7);
  REQUIRE(simulator.Run({0, 0, 0, 0}).value().seconds == 8);
  REQUIRE(simulator.Transfers().empty());
}

TEST_CASE("an output is sent once to a device that reads it twice") {
  Graph graph;
  AddOperation(graph, 1, 2, {});
  AddOperation(graph, 1, 0, {0});
  AddOperation(graph, 1, 0, {0});
  Simulator simulator = Make(graph, EqualDevices(2, 100));
  REQUIRE(simulator.Run({0, 1, 1}).value().seconds == 5);
  REQUIRE(simulator.Transfers().size() == 1);
}

TEST_CASE("a placement that needs more than a device's memory has failed and costs more") {
  Graph graph;
  AddOperation(graph, 1, 6, {});
  AddOperation(graph, 1, 6, {0});
  Simulator simulator = Make(graph, EqualDevices(2, 10));
  const Step together = simulator.Run({0, 0}).value();
  REQUIRE_FALSE(together.fits());
  REQUIRE(together.excess == Approx(0.2));
  REQUIRE(together.cost() > 100);
  // The receiver holds what it receives, too: its input of 6 and its output of 6.
  REQUIRE_FALSE(simulator.Run({0, 1}).value().fits());
  REQUIRE(simulator.peak_bytes()[0] == 6);
  REQUIRE(simulator.peak_bytes()[1] == 12);
}

TEST_CASE("an operation and a group that no device can hold are errors that name them") {
  Graph graph;
  AddOperation(graph, 1, 11, {});
  REQUIRE(SimulatorError(graph, EqualDevices(2, 10))
              .find("no device can hold operation \"operation 0\"") == 0);
  graph.operations[0].activation_bytes = 0;
  graph.operations[0].parameter_bytes = 6;
  AddOperation(graph, 1, 0, {});
  graph.operations[1].parameter_bytes = 6;
  graph.operations[1].group = 0;
  graph.groups.pop_back();
  REQUIRE(SimulatorError(graph, EqualDevices(2, 10))
              .find("no device can hold the parameters of group \"operation 0\"") == 0);
}

TEST_CASE("a placement of another size or on a device that does not exist is refused") {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  Simulator simulator = Make(graph, EqualDevices(2, 10));
  REQUIRE(absl::IsInvalidArgument(simulator.Run({}).status()));
  REQUIRE(absl::IsInvalidArgument(simulator.Run({0, 0}).status()));
  REQUIRE(absl::IsInvalidArgument(simulator.Run({2}).status()));
  REQUIRE(simulator.Run({1}).ok());
}

TEST_CASE("a million operations are simulated") {
  Graph graph;
  graph.groups = {"all"};
  graph.operations.resize(kMostOperations);
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    graph.operations[i].flops = 1;
    if (i > 0) graph.operations[i].inputs = {{.from = i - 1, .bytes = 1}};
    if (i > 1000) graph.operations[i].inputs.push_back({.from = i - 1000, .bytes = 1});
  }
  Simulator simulator = Make(graph, EqualDevices(2, 1e9));
  REQUIRE(simulator.Run({0}).value().seconds == static_cast<double>(kMostOperations));
}

}  // namespace
}  // namespace shoal::placement
