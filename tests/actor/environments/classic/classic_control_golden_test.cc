// SPDX-License-Identifier: Apache-2.0
// Compares episodes with those of PyPI's gymnasium (tests/golden/classic_control_golden.py).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "actor/environments/classic/acrobot.h"
#include "actor/environments/classic/cartpole.h"
#include "actor/environments/classic/mountain_car.h"
#include "actor/environments/classic/pendulum.h"

namespace shoal::actor {
namespace {

// A start, or a step and what it led to.
struct Moment {
  bool first = false;
  double action = 0;
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
  std::vector<double> state;
  std::vector<double> observation;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<double> Numbers(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : Split(text, ' ')) numbers.push_back(std::stod(part));
  return numbers;
}

// Returns the moments of an environment, episode after episode.
std::vector<Moment> Recorded(const std::string& environment) {
  std::ifstream file("tests/golden/classic_control.csv");
  std::vector<Moment> moments;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = Split(line, ',');
    REQUIRE(parts.size() == 8);
    if (parts[0] != environment) continue;
    moments.push_back({.first = parts[2].empty(),
                       .action = parts[2].empty() ? 0 : std::stod(parts[2]),
                       .reward = std::stod(parts[3]),
                       .terminated = parts[4] == "1",
                       .truncated = parts[5] == "1",
                       .state = Numbers(parts[6]),
                       .observation = Numbers(parts[7])});
  }
  REQUIRE(moments.size() > 100);
  return moments;
}

// `actual` differs from `expected` by at most `tolerance`, relative to numbers above 1.
void RequireEqual(const std::vector<double>& actual, const std::vector<double>& expected,
                  double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    INFO("number " << i << ": " << actual[i] << " and " << expected[i]);
    REQUIRE(std::abs(actual[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i])));
  }
}

constexpr double kDouble = 1e-12;
constexpr double kFloat = 1.2e-7;

std::vector<double> AsNumbers(const CartPoleState& state) { return {state.begin(), state.end()}; }
std::vector<double> AsNumbers(const MountainCarState& state) {
  return {state.position, state.velocity};
}
std::vector<double> AsNumbers(const PendulumState& state) { return {state.angle, state.velocity}; }
void FromNumbers(const std::vector<double>& numbers, CartPoleState& state) {
  std::copy(numbers.begin(), numbers.end(), state.begin());
}
void FromNumbers(const std::vector<double>& numbers, MountainCarState& state) {
  state = {.position = numbers[0], .velocity = numbers[1]};
}
void FromNumbers(const std::vector<double>& numbers, PendulumState& state) {
  state = {.angle = numbers[0], .velocity = numbers[1]};
}

std::vector<double> Seen(const Simulation& simulation) {
  std::vector<float> numbers(static_cast<std::size_t>(simulation.spec().observation_shape[0]));
  simulation.Observe(numbers);
  return {numbers.begin(), numbers.end()};
}

// Takes the recorded actions. At each step the state, reward, observation and end must be
// Gymnasium's. Where `anew` is set, each step begins in the recorded state, else only each episode.
template <typename Task>
void Follow(Task& task, const std::string& environment, bool anew, double tolerance) {
  int steps = 0;
  int terminations = 0;
  int truncations = 0;
  const std::vector<Moment> moments = Recorded(environment);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = moments[i];
    INFO(environment << ", line " << i);
    if (moment.first || anew) {
      std::remove_cvref_t<decltype(task.state())> state;
      FromNumbers(moments[moment.first ? i : i - 1].state, state);
      task.Begin(state);
    }
    if (moment.first) {
      steps = 0;
      RequireEqual(Seen(task), moment.observation, kFloat);
      continue;
    }
    const SimulationStep step = task.Step(static_cast<std::int64_t>(moment.action));
    ++steps;
    RequireEqual(AsNumbers(task.state()), moment.state, tolerance);
    RequireEqual(Seen(task), moment.observation, std::max(tolerance, kFloat));
    REQUIRE(static_cast<double>(step.reward) == moment.reward);
    REQUIRE(step.terminated == moment.terminated);
    REQUIRE((steps == task.spec().step_limit) == moment.truncated);
    terminations += moment.terminated ? 1 : 0;
    truncations += moment.truncated ? 1 : 0;
  }
  REQUIRE(terminations == 1);
  REQUIRE(truncations == 1);
}

TEST_CASE("CartPole's steps and whole episodes are those of Gymnasium's CartPole-v1", "[golden]") {
  CartPole task(CartPole::Sees::kAll);
  Follow(task, "CartPole-v1", true, kDouble);
  Follow(task, "CartPole-v1", false, 1e-9);
}

TEST_CASE("Acrobot's steps are those of Gymnasium's Acrobot-v1", "[golden]") {
  // Its motion is chaotic: whole episodes would multiply differences in the last bit.
  Acrobot task;
  Follow(task, "Acrobot-v1", true, kDouble);
}

TEST_CASE("MountainCar's steps and whole episodes are those of Gymnasium's MountainCar-v0",
          "[golden]") {
  MountainCar task;
  Follow(task, "MountainCar-v0", true, kDouble);
  Follow(task, "MountainCar-v0", false, 1e-9);
}

TEST_CASE("The pendulum's steps are those of Gymnasium's Pendulum-v1 under any torque",
          "[golden]") {
  Pendulum task(5);
  const std::vector<Moment> moments = Recorded("Pendulum-v1");
  int steps = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    INFO("line " << i);
    steps = moments[i].first ? 0 : steps + 1;
    PendulumState state;
    FromNumbers(moments[i].state, state);
    task.Begin(state);
    RequireEqual(Seen(task), moments[i].observation, kFloat);
    if (moments[i].first) continue;
    const auto torque = static_cast<float>(moments[i].action);
    FromNumbers(moments[i - 1].state, state);
    RequireEqual({PendulumReward(state, torque)}, {moments[i].reward}, kDouble);
    RequireEqual(AsNumbers(AdvancePendulum(state, torque)), moments[i].state, kDouble);
    REQUIRE_FALSE(moments[i].terminated);
    REQUIRE((steps == task.spec().step_limit) == moments[i].truncated);
  }
}

TEST_CASE("Whole episodes of the continuous pendulum are those of Gymnasium's Pendulum-v1",
          "[golden]") {
  TorquePendulum task;
  const std::vector<Moment> moments = Recorded("Pendulum-v1");
  int truncations = 0;
  int steps = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    INFO("line " << i);
    if (moments[i].first) {
      PendulumState state;
      FromNumbers(moments[i].state, state);
      task.Begin(state);
      steps = 0;
      continue;
    }
    const auto torque = static_cast<float>(moments[i].action);
    const SimulationStep step = task.StepBox(std::array{torque});
    ++steps;
    RequireEqual({static_cast<double>(step.reward)}, {moments[i].reward}, kFloat);
    RequireEqual(Seen(task), moments[i].observation, kFloat * 10);
    RequireEqual(AsNumbers(task.state()), moments[i].state, 1e-9);
    REQUIRE_FALSE(step.terminated);
    REQUIRE((steps == task.spec().step_limit) == moments[i].truncated);
    truncations += moments[i].truncated ? 1 : 0;
  }
  REQUIRE(truncations == 2);
  REQUIRE(task.spec().action_low == std::vector<float>{-2});
  REQUIRE(task.spec().action_high == std::vector<float>{2});
}

TEST_CASE("The pendulum's actions are evenly spaced torques from -2 to 2 N m") {
  Pendulum task(5);
  const PendulumState start{.angle = 0.3, .velocity = -0.5};
  for (std::int64_t action = 0; action < 5; ++action) {
    task.Begin(start);
    const float torque = static_cast<float>(action) - 2.0F;
    REQUIRE(task.Step(action).reward == static_cast<float>(PendulumReward(start, torque)));
    RequireEqual(AsNumbers(task.state()), AsNumbers(AdvancePendulum(start, torque)), 0);
  }
}

}  // namespace
}  // namespace shoal::actor
