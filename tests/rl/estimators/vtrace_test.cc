// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/vtrace.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "rl/estimators/generalised_advantages.h"
#include "rl/estimators/returns.h"
#include "tests/rl/estimators/close.h"
#include "tests/rl/estimators/tabular_process.h"

namespace shoal::estimators {
namespace {

float LogRatio(const Floats& target, const Floats& behaviour, std::size_t action) {
  const auto log_softmax = [action](const Floats& logits) {
    return logits[action] - std::log(std::exp(logits[0]) + std::exp(logits[1]));
  };
  return log_softmax(target) - log_softmax(behaviour);
}

// A sequence that owns its numbers.
struct Sequence {
  Floats log_ratio;
  Floats reward;
  Floats discount;
  Floats trace;
  Floats value;

  VtraceEstimate Estimate(const VtraceOptions& options = {}) const {
    return Vtrace({.log_ratio = log_ratio,
                   .reward = reward,
                   .discount = discount,
                   .trace = trace,
                   .value = value},
                  options);
  }
};

Floats Corrections(const Sequence& sequence) {
  Floats corrections = sequence.Estimate().value;
  for (std::size_t t = 0; t < corrections.size(); ++t) corrections[t] -= sequence.value[t];
  return corrections;
}

const Sequence kFirst = {
    .log_ratio = {LogRatio({.4F, .5F}, {8.9F, .7F}, 0), LogRatio({9.2F, 8.8F}, {5, 1}, 1),
                  LogRatio({.7F, 4.4F}, {.6F, .1F}, 0), LogRatio({7.9F, 1.4F}, {-.9F, -.1F}, 0)},
    .reward = {-1.3F, -1.3F, 2.3F, 42},
    .discount = {0, .89F, .85F, .99F},
    .trace = Floats(4, 1.0F),
    .value = {2.1F, 1.1F, -3.1F, 0, 8.4F}};
const Sequence kSecond = {
    .log_ratio = {LogRatio({1, .9F}, {.3F, -5}, 1), LogRatio({1, -1}, {1, -8}, 0),
                  LogRatio({-4.3F, 8.7F}, {.3F, 1.7F}, 0), LogRatio({.8F, .3F}, {4.7F, 3.3F}, 1)},
    .reward = {1.3F, 5.3F, -3.3F, -5},
    .discount = {.88F, 1, .83F, .95F},
    .trace = Floats(4, 1.0F),
    .value = {3.1F, .1F, -1.1F, 7.4F, -1.2F}};

TEST_CASE("V-trace gives the published targets of two sequences") {
  const std::vector<double> first = {-1.615514, -3.497322, 1.867053, 50.316};
  RequireClose(Corrections(kFirst), first);
  RequireClose(kFirst.Estimate().advantage, first);
  RequireClose(Corrections(kSecond), {1.466243, 3.611640, -8.3e-5, -13.54});
}

TEST_CASE("on the policy's own steps with trace 1, V-trace is the return to the end") {
  Sequence own = kSecond;
  own.log_ratio.assign(4, 0.0F);
  const Floats next_value(own.value.begin() + 1, own.value.end());
  const Floats expected = NStepReturns({.reward = own.reward,
                                        .discount = own.discount,
                                        .trace = own.trace,
                                        .next_value = next_value},
                                       4);
  RequireClose(own.Estimate().value, {expected.begin(), expected.end()});
}

TEST_CASE("on the policy's own steps with any trace, V-trace's corrections are advantages") {
  Sequence own = kSecond;
  own.log_ratio.assign(4, 0.0F);
  own.trace = {.9F, .8F, 0, .95F};
  const Floats expected = GeneralisedAdvantages(
      {.reward = own.reward, .value = own.value, .discount = own.discount, .trace = own.trace});
  RequireClose(Corrections(own), {expected.begin(), expected.end()});
  RequireClose(own.Estimate().advantage, {expected.begin(), expected.end()});
}

TEST_CASE("a sequence cut where an episode ends gives the targets of its two parts") {
  for (const bool terminated : {true, false}) {
    Sequence whole = kSecond;
    whole.trace = {.9F, 0, .9F, .9F};
    if (terminated) whole.discount[1] = 0;
    const auto part = [](const Floats& all, std::size_t begin, std::size_t end) {
      return Floats(all.begin() + static_cast<std::ptrdiff_t>(begin),
                    all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const auto cut = [&](std::size_t begin, std::size_t end) {
      return Sequence{part(whole.log_ratio, begin, end), part(whole.reward, begin, end),
                      part(whole.discount, begin, end), part(whole.trace, begin, end),
                      part(whole.value, begin, end + 1)};
    };
    const VtraceEstimate got = whole.Estimate();
    const VtraceEstimate before = cut(0, 2).Estimate();
    const VtraceEstimate after = cut(2, 4).Estimate();
    REQUIRE(part(got.value, 0, 2) == before.value);
    REQUIRE(part(got.value, 2, 4) == after.value);
    REQUIRE(part(got.advantage, 0, 2) == before.advantage);
    REQUIRE(part(got.advantage, 2, 4) == after.advantage);
  }
}

TEST_CASE("the clip of the advantage changes advantages alone") {
  const VtraceEstimate plain = kSecond.Estimate();
  const VtraceEstimate wide = kSecond.Estimate({.clip_advantage_rho = 1000});
  REQUIRE(wide.value == plain.value);
  const double ratio = std::exp(kSecond.log_ratio[0]);
  REQUIRE(wide.advantage[0] == Approx(ratio * plain.advantage[0]));
  // The second weight is below both clips.
  REQUIRE(wide.advantage[1] == plain.advantage[1]);
}

TEST_CASE("an empty sequence has no targets") {
  const Sequence empty = {{}, {}, {}, {}, {3}};
  REQUIRE(empty.Estimate().value.empty());
}

// Returns the policy that V-trace evaluates: min(clip mu, pi), normalised.
TabularProcess::Table ClippedPolicy(const TabularProcess::Table& pi,
                                    const TabularProcess::Table& mu, double clip) {
  TabularProcess::Table clipped(pi.size());
  for (std::size_t state = 0; state < TabularProcess::kStates; ++state) {
    double sum = 0;
    for (std::size_t action = 0; action < TabularProcess::kActions; ++action) {
      const std::size_t pair = TabularProcess::At(state, action);
      sum += clipped[pair] = std::min(clip * mu[pair], pi[pair]);
    }
    for (std::size_t action = 0; action < TabularProcess::kActions; ++action) {
      clipped[TabularProcess::At(state, action)] /= sum;
    }
  }
  return clipped;
}

// Returns the expectation of the first target over all sequences of three steps from `state`.
double ExpectedVtrace(const TabularProcess& process, std::size_t state, const Floats& value,
                      const TabularProcess::Table& pi, const TabularProcess::Table& mu,
                      double lambda, const VtraceOptions& options) {
  double expected = 0;
  for (std::size_t action = 0; action < TabularProcess::kActions; ++action) {
    const double chance = mu[TabularProcess::At(state, action)];
    process.ForEachSequence(
        state, action, 3, mu, [&](double probability, const TabularProcess::Sequence& steps) {
          Sequence sequence;
          for (const TabularProcess::Step& step : steps) {
            const std::size_t pair = TabularProcess::At(step.state, step.action);
            sequence.log_ratio.push_back(static_cast<float>(std::log(pi[pair] / mu[pair])));
            sequence.reward.push_back(static_cast<float>(process.reward(step.state, step.action)));
            sequence.discount.push_back(
                static_cast<float>(process.discount(step.state, step.action)));
            sequence.trace.push_back(
                static_cast<float>(process.trace(step.state, step.action, lambda)));
            sequence.value.push_back(value[step.state]);
          }
          sequence.value.push_back(value[steps.back().next]);
          expected += chance * probability * double{sequence.Estimate(options).value[0]};
        });
  }
  return expected;
}

TEST_CASE("V-trace's fixed point is the value of the clipped policy") {
  const TabularProcess process(11);
  const TabularProcess::Table pi = process.RandomPolicy(1);
  const TabularProcess::Table mu = process.RandomPolicy(2);
  struct Setting {
    VtraceOptions options;
    double lambda;
  };
  for (const Setting& setting :
       {Setting{{.clip_rho = 1, .clip_c = 1}, 1}, Setting{{.clip_rho = .7, .clip_c = .5}, .9},
        Setting{{.clip_rho = 100, .clip_c = 1}, .8}}) {
    Floats value(TabularProcess::kStates);
    for (int sweep = 0; sweep < 100; ++sweep) {
      Floats next;
      for (std::size_t state = 0; state < value.size(); ++state) {
        next.push_back(static_cast<float>(
            ExpectedVtrace(process, state, value, pi, mu, setting.lambda, setting.options)));
      }
      if (next == value) break;
      value = next;
    }
    const auto expected = process.ValueOf(ClippedPolicy(pi, mu, setting.options.clip_rho));
    RequireClose(value, expected, 1e-6);
    // What it converges to differs from the values of both policies, unless nothing is clipped.
    REQUIRE(std::abs(process.ValueOf(mu)[0] - expected[0]) > 1e-3);
    REQUIRE((std::abs(process.ValueOf(pi)[0] - expected[0]) > 1e-3) ==
            (setting.options.clip_rho < 100));
  }
}

}  // namespace
}  // namespace shoal::estimators
