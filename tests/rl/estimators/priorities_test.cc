// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/priorities.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

const std::vector<double> kPriorities = {.5, 1, 2, 4};

TEST_CASE("probabilities and importance weights have the known values") {
  const std::vector<double> probabilities = PriorityProbabilities(kPriorities, .6);
  RequireClose(probabilities, {.12054997, .18271958, .27695109, .41977936}, 1e-7);
  std::vector<double> weights;
  for (const double probability : probabilities) {
    weights.push_back(ImportanceWeight(probability, probabilities[0], .4));
  }
  RequireClose(weights, {1, .84674531, .71697762, .60709744}, 1e-7);
}

TEST_CASE("an importance weight is (N P)^-beta divided by the greatest one") {
  const std::vector<double> probabilities = PriorityProbabilities(kPriorities, 1);
  const auto raw = [](double probability) { return std::pow(4 * probability, -.7); };
  const double greatest = raw(*std::min_element(probabilities.begin(), probabilities.end()));
  for (const double probability : probabilities) {
    REQUIRE(ImportanceWeight(probability, probabilities[0], .7) ==
            Approx(raw(probability) / greatest));
    // Full correction gives every item the same weight in expectation, none gives weight 1.
    REQUIRE(probability * ImportanceWeight(probability, probabilities[0], 1) ==
            Approx(probabilities[0]));
    REQUIRE(ImportanceWeight(probability, probabilities[0], 0) == 1);
  }
  REQUIRE(ImportanceWeight(.1, .2, .7) == 1);
}

TEST_CASE("probabilities are uniform with alpha 0, and without priority there are none") {
  RequireClose(PriorityProbabilities(std::vector<double>{0, 3, 9}, 0), {1. / 3, 1. / 3, 1. / 3});
  RequireClose(PriorityProbabilities(std::vector<double>{0, 3, 9}, 1), {0, .25, .75});
  RequireClose(PriorityProbabilities(std::vector<double>{0, 0}, .6), {0, 0});
  REQUIRE(PriorityProbabilities({}, .6).empty());
}

TEST_CASE("probabilities do not overflow") {
  RequireClose(PriorityProbabilities(std::vector<double>{1e300, 1e300, 0}, 3), {.5, .5, 0});
}

TEST_CASE("a sequence's priority mixes its greatest and its mean error") {
  REQUIRE(SequencePriority(Floats{.1F, .5F, 2, .3F}, .9) == Approx(1.8725));
  REQUIRE(SequencePriority(Floats{.1F, -.5F, -2, .3F}) == Approx(1.8725));
  REQUIRE(SequencePriority(Floats{1, 3}, 0) == 2);
  REQUIRE(SequencePriority(Floats{1, 3}, 1) == 3);
  REQUIRE(SequencePriority({}) == 0);
}

TEST_CASE("a transition without error keeps a priority") {
  REQUIRE(ProportionalPriority(-2) == Approx(2 + 1e-6));
  REQUIRE(ProportionalPriority(0) > 0);
}

}  // namespace
}  // namespace shoal::estimators
