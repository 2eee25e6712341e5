// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/retrace.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "rl/estimators/returns.h"
#include "tests/rl/estimators/close.h"
#include "tests/rl/estimators/tabular_process.h"

namespace shoal::estimators {
namespace {

// The fixture of rlax's tests: three steps of two actions, of which the targets belong to the
// observations after each step.
struct Fixture {
  Floats predicted;                   // of the actions taken, by the network that is trained
  std::vector<Floats> target_values;  // of the observations after each step
  std::vector<Floats> policy;         // at the same observations
  Floats behaviour;                   // of the actions taken there
  std::vector<std::size_t> next_action;
  Floats reward;
  Floats discount;

  Floats Errors(ValueTransform transform) const;
};

Floats Fixture::Errors(ValueTransform transform) const {
  Floats log_ratio = {0};
  Floats action_value = {0};
  Floats next_value;
  for (std::size_t t = 0; t < 3; ++t) {
    next_value.push_back(static_cast<float>(ExpectedValue(policy[t], target_values[t], transform)));
    if (t == 2) continue;
    const std::size_t action = next_action[t];
    log_ratio.push_back(std::log(policy[t][action] / behaviour[t]));
    action_value.push_back(target_values[t][action]);
  }
  Floats errors = TransformedRetraceTargets({.log_ratio = log_ratio,
                                             .reward = reward,
                                             .discount = discount,
                                             .trace = Floats(3, .9F),
                                             .action_value = action_value,
                                             .next_value = next_value},
                                            transform);
  for (std::size_t t = 0; t < 3; ++t) errors[t] -= predicted[t];
  return errors;
}

TEST_CASE("Retrace's errors are those of rlax's tests, plain and transformed") {
  const Fixture first = {.predicted = {1.1F, 1.1F, 3.1F},
                         .target_values = {{-1.2F, .2F}, {2.2F, -1.2F}, {-2.25F, -6}},
                         .policy = {{.2F, .8F}, {.6F, .4F}, {.9F, .1F}},
                         .behaviour = {.1F, .9F},
                         .next_action = {1, 0},
                         .reward = {-1.3F, -1.3F, 2.3F},
                         .discount = {0, .89F, .85F}};
  RequireClose(first.Errors(ValueTransform::kIdentity), {-2.4, -2.7905, -3.0313}, 1e-4);
  RequireClose(first.Errors(ValueTransform::kSignedHyperbolic), {-1.6179, -3.0165, -5.2699}, 1e-4);
  const Fixture second = {.predicted = {3.1F, 9.5F, -2.1F},
                          .target_values = {{1.2F, 1.2F}, {-1.2F, -2.2F}, {1.5F, 1}},
                          .policy = {{1, 0}, {.3F, .7F}, {.7F, .3F}},
                          .behaviour = {.6F, 1},
                          .next_action = {0, 0},
                          .reward = {1.3F, 5.3F, -3.3F},
                          .discount = {.88F, 1, .83F}};
  RequireClose(second.Errors(ValueTransform::kIdentity), {.7889, -6.3645, -.0795}, 1e-4);
  RequireClose(second.Errors(ValueTransform::kSignedHyperbolic), {-2.7742, -9.9544, 2.3167}, 1e-4);
}

TEST_CASE("a truncated step bootstraps and a terminated one does not; neither looks further") {
  const auto targets = [](float discount, float later_reward) {
    return RetraceTargets({.log_ratio = Floats{0, 0},
                           .reward = Floats{1, later_reward},
                           .discount = Floats{discount, .5F},
                           .trace = Floats{0, .9F},
                           .action_value = Floats{5, 6},
                           .next_value = Floats{7, 8}});
  };
  REQUIRE(targets(.5F, 2)[0] == 1 + .5F * 7);
  REQUIRE(targets(.5F, 200)[0] == 1 + .5F * 7);
  REQUIRE(targets(0, 2)[0] == 1);
  REQUIRE(targets(0, 2)[1] == 2 + .5F * 8);
}

TEST_CASE("where each action has its expected value, Retrace of its own steps is a lambda-return") {
  const Floats reward = {1, -2, .5F};
  const Floats discount = {.9F, .8F, .95F};
  const Floats trace = {.7F, 1, .6F};
  const Floats next_value = {3, -1, 4};
  const Floats expected = LambdaReturns(
      {.reward = reward, .discount = discount, .trace = trace, .next_value = next_value});
  const Floats got = RetraceTargets({.log_ratio = Floats(3, 0.0F),
                                     .reward = reward,
                                     .discount = discount,
                                     .trace = trace,
                                     .action_value = Floats{100, 3, -1},
                                     .next_value = next_value});
  RequireClose(got, {expected.begin(), expected.end()}, 1e-6);
}

TEST_CASE("an action that the policy would not take ends what is learned from the steps after it") {
  const auto first_target = [](float later_reward) {
    return RetraceTargets({.log_ratio = Floats{0, -100},
                           .reward = Floats{1, later_reward},
                           .discount = Floats(2, .5F),
                           .trace = Floats(2, 1.0F),
                           .action_value = Floats{0, 3},
                           .next_value = Floats{4, 5}})[0];
  };
  REQUIRE(first_target(0) == first_target(1000));
}

// Returns the expectation of the first target over all sequences of three steps of `mu` that begin
// with the pair.
double ExpectedRetrace(const TabularProcess& process, std::size_t state, std::size_t action,
                       const Floats& action_value, const TabularProcess::Table& pi,
                       const TabularProcess::Table& mu) {
  const auto expected_value = [&](std::size_t at) {
    double sum = 0;
    for (std::size_t other = 0; other < TabularProcess::kActions; ++other) {
      const std::size_t pair = TabularProcess::At(at, other);
      sum += pi[pair] * action_value[pair];
    }
    return static_cast<float>(sum);
  };
  double expected = 0;
  process.ForEachSequence(
      state, action, 3, mu, [&](double probability, const TabularProcess::Sequence& sequence) {
        Floats log_ratio, reward, discount, trace, taken, next_value;
        for (const TabularProcess::Step& step : sequence) {
          const std::size_t pair = TabularProcess::At(step.state, step.action);
          log_ratio.push_back(static_cast<float>(std::log(pi[pair] / mu[pair])));
          reward.push_back(static_cast<float>(process.reward(step.state, step.action)));
          discount.push_back(static_cast<float>(process.discount(step.state, step.action)));
          trace.push_back(static_cast<float>(process.trace(step.state, step.action, .9)));
          taken.push_back(action_value[pair]);
          next_value.push_back(expected_value(step.next));
        }
        expected += probability * double{RetraceTargets({.log_ratio = log_ratio,
                                                         .reward = reward,
                                                         .discount = discount,
                                                         .trace = trace,
                                                         .action_value = taken,
                                                         .next_value = next_value})[0]};
      });
  return expected;
}

TEST_CASE("Retrace converges to the action values of a policy, whichever policy acts") {
  const TabularProcess process(12);
  const TabularProcess::Table pi = process.RandomPolicy(3);
  for (const std::uint64_t behaviour : {4, 5}) {
    const TabularProcess::Table mu = process.RandomPolicy(behaviour);
    Floats action_value(pi.size());
    for (int sweep = 0; sweep < 100; ++sweep) {
      Floats next;
      for (std::size_t state = 0; state < TabularProcess::kStates; ++state) {
        for (std::size_t action = 0; action < TabularProcess::kActions; ++action) {
          next.push_back(
              static_cast<float>(ExpectedRetrace(process, state, action, action_value, pi, mu)));
        }
      }
      if (next == action_value) break;
      action_value = next;
    }
    const TabularProcess::Table expected = process.ActionValueOf(pi);
    RequireClose(action_value, expected, 1e-6);
    REQUIRE(std::abs(process.ActionValueOf(mu)[0] - expected[0]) > 1e-3);
  }
}

}  // namespace
}  // namespace shoal::estimators
