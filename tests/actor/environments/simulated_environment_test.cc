// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/simulated_environment.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "actor/environments/classic/cartpole.h"
#include "actor/environments/classic/simulation_kind.h"
#include "actor/loop/environment_loop.h"
#include "platform/runtime/random.h"

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

TEST_CASE("An observation of pixels is a frame") {
  const auto pixels = Make("pixels", 7);
  const auto start =
      Played([&](auto done) { pixels->Reset({.environment_id = 4, .episode = 9}, done); });
  const auto next = Played([&](auto done) { pixels->Step(2, done); });
  for (const Transition& transition : {start, next}) {
    REQUIRE(transition.observation.numeric.empty());
    REQUIRE(transition.observation.frame.size() == std::size_t{84} * 84 * 4);
  }
  REQUIRE(start.observation.frame != next.observation.frame);
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
    const auto simulation = MakeSimulation(kind, {});
    const int limit = simulation->spec().step_limit;
    Transition last = Played([&](auto done) { environment->Reset({}, done); });
    int steps = 0;
    while (last.end == End::kNone) {
      last = Played([&](auto done) {
        if (simulation->spec().actions > 0) {
          environment->Step(0, done);
        } else {
          const std::vector<float>& lowest = simulation->spec().action_low;
          environment->StepBox(lowest, done);
        }
      });
      ++steps;
    }
    REQUIRE(steps <= limit);
    if (last.end == End::kTruncated) REQUIRE(steps == limit);
    const bool unending = kind == "acrobot" || kind == "mountain_car" || kind == "pendulum" ||
                          kind == "corridor" || kind == "maze" || kind == "bit_flip" ||
                          kind == "pendulum_continuous";
    REQUIRE((last.end == End::kTruncated) == unending);
    REQUIRE(environment->facts().capture == kind);
  }
}

// Returns what the paper's rule makes of an episode: the agent sees `goal`, each step earns -1, and
// the one that reaches the goal earns 0 and is the last.
std::vector<Transition> TellByHand(std::uint64_t state, const std::vector<std::int64_t>& actions,
                                   std::uint64_t goal, int bits) {
  const auto seen = [&] {
    std::vector<float> numbers;
    for (const std::uint64_t value : {state, goal}) {
      for (int bit = 0; bit < bits; ++bit) numbers.push_back(static_cast<float>(value >> bit & 1));
    }
    return Observation{.numeric = numbers};
  };
  std::vector<Transition> told = {{.observation = seen()}};
  for (const std::int64_t action : actions) {
    state ^= std::uint64_t{1} << action;
    const bool reached = state == goal;
    told.push_back({.observation = seen(),
                    .reward = reached ? 0.0F : -1.0F,
                    .end = reached ? End::kTerminated : End::kNone});
    if (reached) break;
  }
  return told;
}

std::uint64_t StateIn(const Observation& observation, int bits) {
  std::uint64_t state = 0;
  for (int bit = 0; bit < bits; ++bit) {
    state |= static_cast<std::uint64_t>(observation.numeric[static_cast<std::size_t>(bit)]) << bit;
  }
  return state;
}

TEST_CASE("An episode is told again as it would have been under each goal that it achieved") {
  constexpr int kBits = 6;
  SimulatedEnvironment environment(MakeSimulation("bit_flip", {.bits = kBits}), 3, true);
  runtime::Random random(1);
  int told_in_all = 0;
  for (std::uint64_t episode = 0; episode < 200; ++episode) {
    Transition last = Played(
        [&](auto done) { environment.Reset({.environment_id = 1, .episode = episode}, done); });
    const std::uint64_t start = StateIn(last.observation, kBits);
    std::vector<std::int64_t> actions;
    std::vector<AchievedGoal> achieved;
    while (last.end == End::kNone) {
      actions.push_back(static_cast<std::int64_t>(random.Below(kBits)));
      last = Played([&](auto done) { environment.Step(actions.back(), done); });
      REQUIRE(last.achieved.size() <= 1);
      for (const AchievedGoal& goal : last.achieved) {
        REQUIRE(goal.goal == StateIn(last.observation, kBits));
        REQUIRE(goal.reward == 0);
        achieved.push_back(goal);
      }
    }
    const EpisodeFacts facts = environment.facts();
    for (const AchievedGoal& goal : achieved) {
      REQUIRE(goal.goal != start);
      const auto told = environment.Relabel(goal.goal);
      REQUIRE(told.ok());
      const auto expected = TellByHand(start, actions, goal.goal, kBits);
      REQUIRE(told->transitions.size() == expected.size());
      REQUIRE(told->actions == std::vector<std::int64_t>(
                                   actions.begin(), actions.begin() + std::ssize(expected) - 1));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        REQUIRE(told->transitions[i].observation.numeric == expected[i].observation.numeric);
        REQUIRE(told->transitions[i].reward == expected[i].reward);
        REQUIRE(told->transitions[i].end == expected[i].end);
      }
      ++told_in_all;
    }
    REQUIRE(environment.facts().steps == facts.steps);
    REQUIRE(environment.facts().success == facts.success);
  }
  REQUIRE(told_in_all > 500);
}

TEST_CASE(
    "A goal that an episode did not reach cannot be set in hindsight, nor one without goals") {
  SimulatedEnvironment environment(MakeSimulation("bit_flip", {.bits = 4}), 3, true);
  Transition last = Played([&](auto done) { environment.Reset({}, done); });
  const std::uint64_t start = StateIn(last.observation, 4);
  while (last.end == End::kNone) {
    last = Played([&](auto done) { environment.Step(0, done); });
  }
  REQUIRE(absl::IsFailedPrecondition(environment.Relabel(start ^ 0b1110U).status()));
  const auto cartpole = Make("cartpole", 3);
  Played([&](auto done) { cartpole->Reset({}, done); });
  REQUIRE(absl::IsFailedPrecondition(cartpole->Relabel(0).status()));
}

TEST_CASE("Without hindsight steps tell of no goals") {
  const auto environment = Make("bit_flip", 3);
  Played([&](auto done) { environment->Reset({}, done); });
  REQUIRE(Played([&](auto done) { environment->Step(1, done); }).achieved.empty());
}

TEST_CASE("Pixels are announced as bytes of 84 x 84 x 4") {
  const auto spec = SimulatedEnvironment::SpecOf(MakeSimulation("pixels", {})->spec());
  REQUIRE(spec.observation_size() == 84 * 84 * 4);
  const proto::EnvironmentSpec wire = ToWire(spec);
  REQUIRE(wire.observations(0).dtype() == proto::UINT8);
  REQUIRE(wire.observations(0).shape_size() == 3);
  REQUIRE(wire.action().discrete().count() == 3);
}

TEST_CASE(
    "A point of a box is clipped to it, and one of another size or of no number is an error") {
  const auto environment = Make("pendulum_continuous", 3);
  const auto stepped = [&](const std::vector<float>& point) {
    Played([&](auto done) { environment->Reset({}, done); });
    absl::StatusOr<Transition> answer = absl::InternalError("no answer");
    environment->StepBox(point, [&](absl::StatusOr<Transition> got) { answer = std::move(got); });
    return answer;
  };
  REQUIRE(stepped({7})->reward == stepped({2})->reward);
  REQUIRE(stepped({7})->observation.numeric == stepped({2})->observation.numeric);
  REQUIRE(stepped({1})->observation.numeric != stepped({2})->observation.numeric);
  REQUIRE(absl::IsInvalidArgument(stepped({}).status()));
  REQUIRE(absl::IsInvalidArgument(stepped({1, 1}).status()));
  REQUIRE(absl::IsInvalidArgument(stepped({std::nanf("")}).status()));
  const auto numbered = Make("pendulum", 3);
  Played([&](auto done) { numbered->Reset({}, done); });
  absl::Status status;
  numbered->StepBox(std::vector<float>{0},
                    [&](absl::StatusOr<Transition> got) { status = got.status(); });
  REQUIRE(absl::IsInvalidArgument(status));
}

TEST_CASE("A box is announced with its ends") {
  const auto spec = SimulatedEnvironment::SpecOf(MakeSimulation("pendulum_continuous", {})->spec());
  const proto::EnvironmentSpec wire = ToWire(spec);
  REQUIRE(wire.action().box().low(0) == -2);
  REQUIRE(wire.action().box().high(0) == 2);
}

}  // namespace
}  // namespace shoal::actor
