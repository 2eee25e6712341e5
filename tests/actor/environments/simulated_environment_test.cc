// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/simulated_environment.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "actor/environments/classic/cartpole.h"
#include "actor/environments/classic/simulation_kind.h"
#include "actor/loop/environment_loop.h"

namespace shoal::actor {
namespace {

std::unique_ptr<SimulatedEnvironment> Make(const std::string& kind, std::uint64_t seed) {
  return std::make_unique<SimulatedEnvironment>(MakeSimulation(kind, {}), seed);
}

// Returns the answer of an in-process environment.
Transition Played(const std::function<void(Environment::Done)>& call) {
  std::optional<absl::StatusOr<Transition>> answer;
  call([&](absl::StatusOr<Transition> transition) { answer = std::move(transition); });
  REQUIRE(answer.has_value());
  REQUIRE(answer->ok());
  return **answer;
}

TEST_CASE("Always pushing one way ends an episode of CartPole as terminated with a reward a step") {
  const auto environment = Make("cartpole", 3);
  Played([&](auto done) { environment->Reset({.environment_id = 1}, done); });
  int steps = 0;
  End end = End::kNone;
  while (end == End::kNone) {
    const Transition transition = Played([&](auto done) { environment->Step(1, done); });
    REQUIRE(transition.reward == 1.0F);
    end = transition.end;
    ++steps;
  }
  REQUIRE(end == End::kTerminated);
  REQUIRE(steps < 20);
  REQUIRE(environment->facts().steps == steps);
  REQUIRE_FALSE(environment->facts().success);
}

TEST_CASE("A balanced pole is cut off after 500 steps as truncated") {
  const auto environment = Make("cartpole", 3);
  Transition last = Played([&](auto done) { environment->Reset({.environment_id = 1}, done); });
  int steps = 0;
  while (last.end == End::kNone) {
    const auto& state = last.observation.numeric;
    const float lean = state[2] + 0.5F * state[3] + 0.05F * state[0] + 0.1F * state[1];
    last = Played([&](auto done) { environment->Step(lean > 0 ? 1 : 0, done); });
    ++steps;
  }
  REQUIRE(steps == 500);
  REQUIRE(last.end == End::kTruncated);
  REQUIRE(environment->facts().success);
}

TEST_CASE("A start is a function of seed, environment and episode") {
  const auto one = Make("cartpole", 7);
  const auto same = Make("cartpole", 7);
  const auto other = Make("cartpole", 8);
  const auto start = [](Environment& environment, std::uint64_t id, std::uint64_t episode) {
    return Played([&](auto done) {
             environment.Reset({.environment_id = id, .episode = episode}, done);
           })
        .observation.numeric;
  };
  const auto first = start(*one, 4, 9);
  for (const float value : first) REQUIRE(std::abs(value) <= 0.05F);
  start(*same, 1, 1);
  REQUIRE(start(*same, 4, 9) == first);
  REQUIRE(start(*one, 4, 10) != first);
  REQUIRE(start(*one, 5, 9) != first);
  REQUIRE(start(*other, 4, 9) != first);
}

TEST_CASE("An action that a simulation does not have is an error, not a step") {
  for (const std::string& kind : SimulationKinds()) {
    INFO(kind);
    const auto environment = Make(kind, 3);
    Played([&](auto done) { environment->Reset({}, done); });
    const std::int64_t actions = MakeSimulation(kind, {})->spec().actions;
    for (const std::int64_t action : {std::int64_t{-1}, actions}) {
      absl::Status status;
      environment->Step(action,
                        [&](absl::StatusOr<Transition> answer) { status = answer.status(); });
      REQUIRE(absl::IsInvalidArgument(status));
    }
    REQUIRE(environment->facts().steps == 0);
  }
}

TEST_CASE("Every simulation's episode ends by its limit, as truncated unless it ended by itself") {
  for (const std::string& kind : SimulationKinds()) {
    INFO(kind);
    const auto environment = Make(kind, 3);
    const int limit = MakeSimulation(kind, {})->spec().step_limit;
    Transition last = Played([&](auto done) { environment->Reset({}, done); });
    int steps = 0;
    while (last.end == End::kNone) {
      last = Played([&](auto done) { environment->Step(0, done); });
      ++steps;
    }
    REQUIRE(steps <= limit);
    if (last.end == End::kTruncated) REQUIRE(steps == limit);
    const bool unending = kind == "acrobot" || kind == "mountain_car" || kind == "pendulum" ||
                          kind == "corridor" || kind == "maze";
    REQUIRE((last.end == End::kTruncated) == unending);
    REQUIRE(environment->facts().capture == kind);
  }
}

TEST_CASE("Pixels are announced as bytes of 84 x 84 x 4") {
  const auto spec = SimulatedEnvironment::SpecOf(MakeSimulation("pixels", {})->spec());
  REQUIRE(spec.observation_size() == 84 * 84 * 4);
  const proto::EnvironmentSpec wire = ToWire(spec);
  REQUIRE(wire.observations(0).dtype() == proto::UINT8);
  REQUIRE(wire.observations(0).shape_size() == 3);
  REQUIRE(wire.action().discrete().count() == 3);
}

}  // namespace
}  // namespace shoal::actor
