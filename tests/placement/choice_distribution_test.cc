// SPDX-License-Identifier: Apache-2.0
#include "placement/choice_distribution.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

std::vector<double> SmallNumbers(runtime::Random& random, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = random.Normal();
  return numbers;
}

TEST_CASE("at first all choices are equally likely") {
  const ChoiceDistribution distribution(3, 4);
  REQUIRE(distribution.groups() == 3);
  REQUIRE(distribution.LogProbability({0, 3, 1}) == Approx(3 * std::log(0.25)));
}

TEST_CASE("the gradient of a draw's log-probability is that of finite differences") {
  constexpr double kStep = 1e-5;
  runtime::Random random(3);
  for (int i = 0; i < 20; ++i) {
    ChoiceDistribution distribution(3, 4);
    distribution.Move(SmallNumbers(random, 12));
    const Placement placement = RandomPlacement(random, 3, 4);
    const Choices drawn(placement.begin(), placement.end());
    std::vector<double> gradient(12);
    distribution.AddLogGradient(drawn, 2, gradient);
    for (std::size_t logit = 0; logit < gradient.size(); ++logit) {
      std::vector<double> change(12);
      change[logit] = kStep;
      ChoiceDistribution more = distribution;
      more.Move(change);
      change[logit] = -kStep;
      ChoiceDistribution less = distribution;
      less.Move(change);
      const double slope = (more.LogProbability(drawn) - less.LogProbability(drawn)) / (2 * kStep);
      REQUIRE(gradient[logit] == Approx(2 * slope).margin(1e-8));
    }
  }
}

TEST_CASE("choices are drawn as often as they are probable, each group for itself") {
  constexpr int kDraws = 40'000;
  ChoiceDistribution distribution(2, 3);
  distribution.SetProbabilities({0.7, 0.2, 0.1, 0.05, 0.05, 0.9});
  runtime::Random random(1);
  std::vector<int> counts(6);
  int both = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Choices drawn = distribution.Draw(random);
    ++counts[drawn[0]];
    ++counts[3 + drawn[1]];
    both += drawn[0] == 0 && drawn[1] == 2 ? 1 : 0;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    REQUIRE(static_cast<double>(counts[i]) / kDraws ==
            Approx(distribution.probabilities()[i]).margin(0.01));
  }
  REQUIRE(static_cast<double>(both) / kDraws == Approx(0.63).margin(0.01));
}

TEST_CASE("probabilities that were set are where a move starts, and none becomes 0") {
  ChoiceDistribution distribution(1, 2);
  distribution.SetProbabilities({0.2, 0.8});
  distribution.Move(std::vector<double>{std::log(4.0), 0});
  REQUIRE(distribution.Probability(0, 0) == Approx(0.5));
  distribution.Move(std::vector<double>{1e6, 0});
  REQUIRE(distribution.Probability(0, 1) > 0);
  REQUIRE(distribution.LogProbability({1}) == Approx(-30));
  distribution.Move(std::vector<double>{-31, 0});
  REQUIRE(distribution.Probability(0, 1) > 0.7);
}

}  // namespace
}  // namespace shoal::placement
