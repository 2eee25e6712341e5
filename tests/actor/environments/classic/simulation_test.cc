// SPDX-License-Identifier: Apache-2.0
// What holds of all simulations.
#include "actor/environments/classic/simulation.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "actor/environments/classic/simulation_kind.h"
#include "platform/runtime/tensor.h"

namespace {
std::atomic<std::int64_t> allocations = 0;
}  // namespace

// All forms are replaced that are used here, for a sanitizer refuses memory of one kind freed by
// another.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace shoal::actor {
namespace {

// Takes one of the simulation's actions; of a box, its lowest or its highest point.
SimulationStep Take(Simulation& simulation, std::int64_t number) {
  const SimulationSpec& spec = simulation.spec();
  if (spec.actions > 0) return simulation.Step(number % spec.actions);
  return simulation.StepBox(number % 2 == 0 ? spec.action_low : spec.action_high);
}

// The rewards and observations of an episode of actions in turn.
struct Played {
  std::vector<float> numbers;
  int steps = 0;
};

Played Play(Simulation& simulation, const EpisodeDraws& draws) {
  std::int64_t size = 1;
  for (const std::int64_t dimension : simulation.spec().observation_shape) size *= dimension;
  std::vector<float> observation(static_cast<std::size_t>(size));
  Played played;
  simulation.Reset(draws);
  SimulationStep step;
  while (!step.terminated && played.steps < simulation.spec().step_limit) {
    step = Take(simulation, played.steps * 7 + played.steps / 3);
    ++played.steps;
    simulation.Observe(observation);
    played.numbers.push_back(step.reward);
    played.numbers.insert(played.numbers.end(), observation.begin(), observation.end());
  }
  return played;
}

TEST_CASE("An episode of a simulation is a function of its draws and actions") {
  for (const std::string& kind : SimulationKinds()) {
    INFO(kind);
    const auto one = MakeSimulation(kind, {});
    const auto other = MakeSimulation(kind, {});
    const EpisodeDraws draws{.seed = 3, .environment = 4, .episode = 5};
    const Played first = Play(*one, draws);
    Play(*other, {.seed = 3, .environment = 4, .episode = 6});
    REQUIRE(Play(*other, draws).numbers == first.numbers);
    if (kind == "maze") continue;
    bool differs = false;
    for (std::uint64_t episode = 6; episode < 20; ++episode) {
      const Played next = Play(*one, {.seed = 3, .environment = 4, .episode = episode});
      differs = differs || next.numbers != first.numbers;
    }
    REQUIRE(differs);
  }
}

TEST_CASE("No episode of a simulation allocates memory") {
  for (const std::string& kind : SimulationKinds()) {
    INFO(kind);
    const auto simulation = MakeSimulation(kind, {});
    std::vector<float> observation(std::size_t{84} * 84 * 4);
    std::int64_t size = 1;
    for (const std::int64_t dimension : simulation->spec().observation_shape) size *= dimension;
    const std::span<float> seen(observation.data(), static_cast<std::size_t>(size));
    const std::int64_t before = allocations;
    for (std::uint64_t episode = 0; episode < 3; ++episode) {
      simulation->Reset({.seed = 1, .environment = 2, .episode = episode});
      SimulationStep step;
      for (int i = 0; i < simulation->spec().step_limit && !step.terminated; ++i) {
        step = Take(*simulation, i);
        simulation->Observe(seen);
      }
    }
    const std::int64_t after = allocations;
    REQUIRE(after == before);
  }
}

TEST_CASE("A frame has the numbers of the observation") {
  const auto simulation = MakeSimulation("pixels", {});
  simulation->Reset({.seed = 1, .environment = 2, .episode = 3});
  simulation->Step(2);
  std::vector<float> numbers(std::size_t{84} * 84 * 4);
  std::vector<std::byte> frame(numbers.size());
  simulation->Observe(numbers);
  simulation->ObserveFrame(frame);
  std::vector<float> of_frame(frame.size());
  runtime::ToFloats(runtime::DType::kUInt8, frame, of_frame);
  REQUIRE(of_frame == numbers);
  REQUIRE(std::count(numbers.begin(), numbers.end(), 255.0F) > 100);
}

TEST_CASE("There is no simulation of another name") {
  REQUIRE(MakeSimulation("redfish", {}) == nullptr);
  REQUIRE(MakeSimulation("", {}) == nullptr);
}

}  // namespace
}  // namespace shoal::actor
