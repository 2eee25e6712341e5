// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/full.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "rl/algorithms/policy_loss.h"

namespace shoal::algorithms {
namespace {

// Returns one row with the importance weight exp(`log_ratio`).
PolicyRows Row(double log_ratio, double advantage) {
  const auto scalar = [](double value) { return at::full({1}, value, at::kDouble); };
  return {.log_probability = scalar(log_ratio),
          .entropy = scalar(0),
          .behaviour_log_probability = scalar(0),
          .advantage = scalar(advantage),
          .greedy = scalar(0)};
}

double Number(const at::Tensor& tensor) { return tensor.item<double>(); }

TEST_CASE("The clipped loss is the smaller gain and has no slope where the clip holds") {
  const auto at = [](double ratio, double advantage) {
    return ClippedLoss(Row(std::log(ratio), advantage), {.near = .2, .far = 0});
  };
  REQUIRE(Number(at(1.3, 1).loss) == Approx(-1.2));
  REQUIRE(Number(at(1.3, 1).by_log_probability) == 0);
  REQUIRE(Number(at(1.3, -1).loss) == Approx(1.3));
  REQUIRE(Number(at(1.3, -1).by_log_probability) == Approx(1.3));
  REQUIRE(Number(at(.7, 1).loss) == Approx(-.7));
  REQUIRE(Number(at(.7, 1).by_log_probability) == Approx(-.7));
  REQUIRE(Number(at(.7, -1).loss) == Approx(.8));
  REQUIRE(Number(at(.7, -1).by_log_probability) == 0);
  REQUIRE(Number(at(.7, -1).metrics[0]) == 1);
  REQUIRE(Number(at(1.1, 1).metrics[0]) == 0);
}

TEST_CASE("An action that was rare and has become likely counts a bounded number of times") {
  const auto at = [](double ratio, double advantage, double far) {
    return ClippedLoss(Row(std::log(ratio), advantage), {.near = .2, .far = far});
  };
  REQUIRE(Number(at(2.9, -2, 3).loss) == Approx(5.8));
  REQUIRE(Number(at(2.9, -2, 3).by_log_probability) == Approx(5.8));
  REQUIRE(Number(at(1000, -2, 3).loss) == Approx(6));
  REQUIRE(Number(at(1000, -2, 3).by_log_probability) == 0);
  REQUIRE(Number(at(1000, -2, 0).by_log_probability) == Approx(2000));
  REQUIRE(Number(at(1000, 2, 3).loss) == Approx(-2.4));
  REQUIRE(Number(at(.5, -2, 3).loss) == Approx(1.6));
}

TEST_CASE("Without a clip the loss is that of importance weights, however far they are from 1") {
  for (const double ratio : {1e-3, .5, 1.0, 7.0}) {
    for (const double advantage : {-2.0, 3.0}) {
      const PolicyTerms terms = ClippedLoss(Row(std::log(ratio), advantage), {.near = 0, .far = 0});
      REQUIRE(Number(terms.loss) == Approx(-ratio * advantage));
      REQUIRE(Number(terms.by_log_probability) == Approx(-ratio * advantage));
      REQUIRE(Number(terms.metrics[0]) == 0);
    }
  }
}

TEST_CASE("The penalty of a row is the coefficient times (r - 1) - log r, with its slope") {
  const auto at = [](double log_ratio) {
    PolicyRows row = Row(log_ratio, 0);
    row.weights.kl = 3;
    PolicyTerms terms = ClippedLoss(row, {.near = 0, .far = 0});
    AddKlPenalty(row, terms);
    return terms;
  };
  REQUIRE(Number(at(0).loss) == 0);
  REQUIRE(Number(at(0).by_log_probability) == 0);
  REQUIRE(Number(at(std::log(2)).loss) == Approx(3 * .3068528194400547));
  REQUIRE(Number(at(std::log(2)).by_log_probability) == Approx(3));
  REQUIRE(Number(at(std::log(.25)).loss) == Approx(3 * .6362943611198906));
  REQUIRE(Number(at(std::log(.25)).by_log_probability) == Approx(-2.25));
  for (const double log_ratio : {-1.5, -.1, .2, 1.5}) {
    constexpr double kStep = 1e-5;
    const double slope =
        (Number(at(log_ratio + kStep).loss) - Number(at(log_ratio - kStep).loss)) / (2 * kStep);
    REQUIRE(Number(at(log_ratio).by_log_probability) == Approx(slope).epsilon(1e-6));
  }
}

TEST_CASE("The mean penalty over actions of the behaviour policy is the KL from it") {
  const std::vector<double> behaviour = {.5, .3, .2};
  const std::vector<double> current = {.2, .7, .1};
  double penalty = 0;
  double kl = 0;
  for (std::size_t i = 0; i < behaviour.size(); ++i) {
    PolicyRows row = Row(std::log(current[i] / behaviour[i]), 0);
    row.weights.kl = 1;
    PolicyTerms terms = ClippedLoss(row, {});
    AddKlPenalty(row, terms);
    penalty += behaviour[i] * Number(terms.loss);
    kl += behaviour[i] * std::log(behaviour[i] / current[i]);
  }
  REQUIRE(penalty == Approx(kl));
}

TEST_CASE("A log-probability that is as good as minus infinity gives finite losses") {
  const PolicyTerms terms = ClippedLoss(Row(-1e9, -1), {});
  REQUIRE(std::isfinite(Number(terms.loss)));
  REQUIRE(std::isfinite(Number(terms.by_log_probability)));
  REQUIRE(Number(ImportanceWeights(Row(-1e9, -1))) > 0);
}

TEST_CASE("A clipped value has no slope once it has moved far enough") {
  const auto at = [](double value, double clip) {
    const auto scalar = [](double number) { return at::full({1}, number, at::kDouble); };
    return SquaredLoss({scalar(value), scalar(1), scalar(3)}, 1, clip);
  };
  REQUIRE(Number(at(2, 0).loss) == Approx(.5));
  REQUIRE(Number(at(2, 0).by_value) == Approx(-1));
  REQUIRE(Number(at(2, .2).loss) == Approx(.5 * 1.8 * 1.8));
  REQUIRE(Number(at(2, .2).by_value) == 0);
  REQUIRE(Number(at(0.9, .2).by_value) == Approx(-2.1));
}

}  // namespace
}  // namespace shoal::algorithms
