// SPDX-License-Identifier: Apache-2.0
#include "placement/gradual_placement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "placement/group_graph.h"
#include "placement/random_machine.h"
#include "placement/random_network.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

constexpr std::size_t kChoices = 3;

std::vector<float> Observed(const GradualPlacement& gradual) {
  std::vector<float> numbers(GradualPlacement::ObservationSize(kChoices));
  gradual.Observe(numbers);
  return numbers;
}

// The step on the fastest device, in which its operations follow each other.
double OneDeviceSeconds(const Simulator& simulator) {
  std::vector<double> total(simulator.devices());
  for (std::size_t position = 0; position < simulator.by_priority().size(); ++position) {
    for (std::size_t device = 0; device < total.size(); ++device) {
      total[device] += simulator.Seconds(position, device);
    }
  }
  return *std::min_element(total.begin(), total.end());
}

TEST_CASE("what choices are worth adds up to the root of the simulated step that they lead to") {
  runtime::Random random(3);
  for (int i = 0; i < 60; ++i) {
    const Graph graph = RandomNetwork(random, {.least_groups = 2, .most_groups = 12});
    const DeviceSet devices = RandomMachine(random, graph);
    auto gradual = GradualPlacement::Create(graph, devices, kChoices);
    if (!gradual.ok()) continue;
    double worth = 0;
    while (!gradual->Ended()) {
      worth += gradual->Place(static_cast<std::size_t>(random.Below(kChoices)));
    }
    Simulator simulator = Simulator::Create(graph, devices).value();
    const Step step = simulator.Run(gradual->placement()).value();
    REQUIRE(gradual->step().seconds == step.seconds);
    REQUIRE(gradual->step().excess == step.excess);
    const double penalty = step.fits() ? 0 : 10 * (1 + step.excess);
    const double cost = step.seconds / OneDeviceSeconds(simulator) + penalty;
    REQUIRE(worth == Approx(-std::sqrt(cost)));
  }
}

TEST_CASE("the first choice takes a step that is as long as it says, and no other one is shorter") {
  // Two operations of 3 s that do not depend on each other, on devices that are equal.
  Graph graph;
  AddOperation(graph, 3, 0, {});
  AddOperation(graph, 3, 0, {});
  auto gradual = GradualPlacement::Create(graph, EqualDevices(2, 100), kChoices).value();
  REQUIRE(gradual.placement() == Placement{2, 2});
  REQUIRE(gradual.step().seconds == 0);
  GradualPlacement together = gradual;
  REQUIRE(gradual.Place(0) == Approx(-std::sqrt(.5)));
  REQUIRE(gradual.step().seconds == 3);
  REQUIRE(gradual.Place(0) == Approx(0).margin(1e-12));
  REQUIRE(gradual.step().seconds == 3);
  REQUIRE(gradual.placement() == Placement{0, 1});
  together.Place(0);
  together.Place(1);
  REQUIRE(together.step().seconds == 6);
  REQUIRE(together.placement() == Placement{0, 0});
}

TEST_CASE("choices beyond the devices begin again with the first") {
  Graph graph;
  AddOperation(graph, 3, 1, {});
  AddOperation(graph, 2, 0, {0});
  auto gradual = GradualPlacement::Create(graph, EqualDevices(2, 100), kChoices).value();
  GradualPlacement other = gradual;
  REQUIRE(gradual.Place(2) == other.Place(0));
  REQUIRE(gradual.placement() == other.placement());
  const std::vector<float> numbers = Observed(gradual);
  const std::size_t each = (numbers.size() - GradualPlacement::ObservationSize(0)) / kChoices;
  const auto of_choice = [&](std::size_t choice) {
    const auto begin =
        numbers.begin() + static_cast<std::ptrdiff_t>(GradualPlacement::ObservationSize(choice));
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(each));
  };
  REQUIRE(of_choice(2) == of_choice(0));
  REQUIRE(of_choice(1) != of_choice(0));
}

TEST_CASE("a memory that is exceeded costs at once, and a device with room comes first") {
  Graph graph;
  AddOperation(graph, 1, 0, {});
  AddOperation(graph, 1, 0, {});
  for (Operation& operation : graph.operations) operation.parameter_bytes = 60;
  auto gradual = GradualPlacement::Create(graph, EqualDevices(2, 100), kChoices).value();
  gradual.Place(0);
  GradualPlacement failed = gradual;
  gradual.Place(0);
  REQUIRE(gradual.step().fits());
  REQUIRE(failed.Place(1) == Approx(std::sqrt(.5) - std::sqrt(1 + 10 * 1.2)));
  REQUIRE(failed.step().excess == Approx(.2));
}

TEST_CASE("a policy sees the same, however devices are numbered") {
  runtime::Random random(5);
  for (int i = 0; i < 20; ++i) {
    const Graph graph = RandomNetwork(random, {.least_groups = 3, .most_groups = 10});
    DeviceSet devices = EqualDevices(3, 1e12);
    for (Device& device : devices.devices) {
      device.speed = 1e12 * (1 + random.Uniform());
      device.memory_speed = device.speed;
    }
    for (Channel& channel : devices.channels) channel.bandwidth = 1e10;
    DeviceSet turned = devices;
    std::rotate(turned.devices.begin(), turned.devices.begin() + 1, turned.devices.end());
    auto one = GradualPlacement::Create(graph, devices, kChoices).value();
    auto other = GradualPlacement::Create(graph, turned, kChoices).value();
    while (!one.Ended()) {
      const std::vector<float> seen = Observed(one);
      const std::vector<float> seen_turned = Observed(other);
      for (std::size_t k = 0; k < seen.size(); ++k) {
        REQUIRE(seen_turned[k] == Approx(seen[k]).margin(1e-4));
      }
      const auto choice = static_cast<std::size_t>(random.Below(kChoices));
      one.Place(choice);
      other.Place(choice);
    }
  }
}

TEST_CASE("observations are finite, and zeros after the last group") {
  runtime::Random random(6);
  for (int i = 0; i < 60; ++i) {
    const Graph graph = RandomGraph(random, 12, 5);
    auto gradual = GradualPlacement::Create(graph, RandomDevices(random, 3), kChoices).value();
    while (!gradual.Ended()) {
      for (const float number : Observed(gradual)) REQUIRE(std::isfinite(number));
      gradual.Place(static_cast<std::size_t>(random.Below(kChoices)));
    }
    for (const float number : Observed(gradual)) REQUIRE(number == 0);
    gradual.Restart();
    REQUIRE_FALSE(gradual.Ended());
    REQUIRE(gradual.step().seconds == 0);
  }
}

TEST_CASE("there is no room for one device more than 63, and none for a group that fits nowhere") {
  Graph graph;
  AddOperation(graph, 1, 0, {});
  REQUIRE(GradualPlacement::Create(graph, EqualDevices(63, 100), kChoices).ok());
  const auto many = GradualPlacement::Create(graph, EqualDevices(64, 100), kChoices);
  REQUIRE(absl::IsInvalidArgument(many.status()));
  REQUIRE(std::string(many.status().message()).find("63") != std::string::npos);
  graph.operations[0].parameter_bytes = 200;
  REQUIRE(absl::IsInvalidArgument(
      GradualPlacement::Create(graph, EqualDevices(2, 100), kChoices).status()));
}

}  // namespace
}  // namespace shoal::placement
