// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/full.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "rl/algorithms/policy_loss.h"
#include "rl/algorithms/targets.h"

namespace shoal::algorithms {
namespace {

using Floats = std::vector<float>;

void RequireClose(const Floats& got, const std::vector<double>& expected, double margin) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i] == Approx(expected[i]).margin(margin).epsilon(1e-5));
  }
}

float LogRatio(const Floats& target, const Floats& behaviour, std::size_t action) {
  const auto log_softmax = [action](const Floats& logits) {
    return logits[action] - std::log(std::exp(logits[0]) + std::exp(logits[1]));
  };
  return log_softmax(target) - log_softmax(behaviour);
}

TEST_CASE("advantages stop at a terminal step and start anew after it") {
  const Floats advantage = GeneralisedAdvantages({.reward = Floats{1, 0, 2, -1, 3},
                                                  .value = Floats{.5F, .4F, .3F, .2F, .1F, .7F},
                                                  .discount = Floats{.99F, .99F, 0, .99F, .99F},
                                                  .trace = Floats{.95F, .95F, 0, .95F, .95F}});
  RequireClose(advantage, {2.302846925, 1.49585, 1.7, 2.2782165, 3.593}, 1e-6);
}

TEST_CASE("with trace 1 and no values the advantage is the discounted return") {
  const Floats advantage = GeneralisedAdvantages({.reward = Floats{1, 1, 1, 1},
                                                  .value = Floats{0, 0, 0, 0, 0},
                                                  .discount = Floats(4, .99F),
                                                  .trace = Floats(4, 1.0F)});
  RequireClose(advantage, {3.940399, 2.9701, 1.99, 1.0}, 1e-6);
}

TEST_CASE("V-trace gives the published targets of the first sequence") {
  const Floats ratios = {LogRatio({.4F, .5F}, {8.9F, .7F}, 0), LogRatio({9.2F, 8.8F}, {5, 1}, 1),
                         LogRatio({.7F, 4.4F}, {.6F, .1F}, 0),
                         LogRatio({7.9F, 1.4F}, {-.9F, -.1F}, 0)};
  const Floats value = {2.1F, 1.1F, -3.1F, 0, 8.4F};
  const VtraceEstimate targets = Vtrace({.log_ratio = ratios,
                                         .reward = Floats{-1.3F, -1.3F, 2.3F, 42},
                                         .discount = Floats{0, .89F, .85F, .99F},
                                         .trace = Floats(4, 1.0F),
                                         .value = value},
                                        {});
  Floats correction;
  for (std::size_t i = 0; i < 4; ++i) correction.push_back(targets.value[i] - value[i]);
  const std::vector<double> expected = {-1.615514, -3.497322, 1.867053, 50.316};
  RequireClose(correction, expected, 1e-4);
  RequireClose(targets.advantage, expected, 1e-4);
}

TEST_CASE("V-trace gives the published targets of the second sequence") {
  const Floats ratios = {LogRatio({1, .9F}, {.3F, -5}, 1), LogRatio({1, -1}, {1, -8}, 0),
                         LogRatio({-4.3F, 8.7F}, {.3F, 1.7F}, 0),
                         LogRatio({.8F, .3F}, {4.7F, 3.3F}, 1)};
  const Floats value = {3.1F, .1F, -1.1F, 7.4F, -1.2F};
  const VtraceEstimate targets = Vtrace({.log_ratio = ratios,
                                         .reward = Floats{1.3F, 5.3F, -3.3F, -5},
                                         .discount = Floats{.88F, 1, .83F, .95F},
                                         .trace = Floats(4, 1.0F),
                                         .value = value},
                                        {});
  Floats correction;
  for (std::size_t i = 0; i < 4; ++i) correction.push_back(targets.value[i] - value[i]);
  RequireClose(correction, {1.466243, 3.611640, -8.3e-5, -13.54}, 1e-4);
}

TEST_CASE("on the policy's own data V-trace is the return to the end") {
  const VtraceEstimate targets = Vtrace({.log_ratio = Floats(3, 0.0F),
                                         .reward = Floats{1, 2, 3},
                                         .discount = Floats(3, .5F),
                                         .trace = Floats(3, 1.0F),
                                         .value = Floats{7, -2, 4, 8}},
                                        {});
  RequireClose(targets.value, {1 + .5 * (2 + .5 * (3 + .5 * 8)), 2 + .5 * (3 + .5 * 8), 7}, 1e-5);
}

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
