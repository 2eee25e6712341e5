// SPDX-License-Identifier: Apache-2.0
#include "rl/training/adam.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "rl/training/schedule.h"

namespace shoal::training {
namespace {

TEST_CASE("the first step is one learning rate long against the sign of the gradient") {
  Adam adam({}, 2);
  std::vector<float> parameters = {1, 1};
  adam.Step(0.1, std::vector<float>{5, -1e-3F}, parameters);
  REQUIRE(parameters[0] == Approx(0.9));
  REQUIRE(parameters[1] == Approx(1.1));
}

TEST_CASE("two steps are those of the equations") {
  Adam adam({.epsilon = 1e-5}, 1);
  std::vector<float> parameters = {0.5F};
  double m = 0;
  double v = 0;
  double expected = 0.5;
  for (int step = 1; step <= 2; ++step) {
    const double g = 0.3 * step;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    expected -= 0.01 * (m / (1 - std::pow(0.9, step))) /
                (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-5);
    adam.Step(0.01, std::vector<float>{static_cast<float>(g)}, parameters);
  }
  REQUIRE(parameters[0] == Approx(expected).epsilon(1e-5));
}

TEST_CASE("weight decay shrinks a parameter without gradient") {
  Adam adam({.weight_decay = 0.5}, 1);
  std::vector<float> parameters = {2};
  adam.Step(0.1, std::vector<float>{0}, parameters);
  REQUIRE(parameters[0] == Approx(2 * (1 - 0.05)));
}

TEST_CASE("restored moments go on with the same bits") {
  const std::vector<float> gradient = {1, -2, 3};
  Adam one({}, 3);
  std::vector<float> a = {1, 2, 3};
  one.Step(0.1, gradient, a);
  Adam two({}, 3);
  two.Restore(one.moments());
  std::vector<float> b = a;
  one.Step(0.1, gradient, a);
  two.Step(0.1, gradient, b);
  REQUIRE(a == b);
}

TEST_CASE("gradients above the norm are scaled down to it, others stay") {
  std::vector<float> gradient = {3, 4};
  REQUIRE(ClipByNorm(gradient, 10) == Approx(5));
  REQUIRE(gradient[1] == 4);
  REQUIRE(ClipByNorm(gradient, 1) == Approx(5));
  REQUIRE(gradient[0] == Approx(.6));
  REQUIRE(ClipByNorm(gradient, 0) == Approx(1));
}

TEST_CASE("a linear rate reaches 0 and stays there") {
  REQUIRE(LinearRate(1e-3, 0, 10) == Approx(1e-3));
  REQUIRE(LinearRate(1e-3, 5, 10) == Approx(5e-4));
  REQUIRE(LinearRate(1e-3, 10, 10) == 0);
  REQUIRE(LinearRate(1e-3, 11, 10) == 0);
}

TEST_CASE("a KL rate falls when the policy runs and rises when it creeps") {
  REQUIRE(KlAdaptiveRate(3e-4, .03, .01) == Approx(2e-4));
  REQUIRE(KlAdaptiveRate(3e-4, .001, .01) == Approx(4.5e-4));
  REQUIRE(KlAdaptiveRate(3e-4, .01, .01) == Approx(3e-4));
  REQUIRE(KlAdaptiveRate(1e-2, 0, .01) == 1e-2);
}

}  // namespace
}  // namespace shoal::training
