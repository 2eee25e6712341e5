// SPDX-License-Identifier: Apache-2.0
// Compares estimators with rlax on random sequences (tests/golden/estimators_golden.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "rl/estimators/double_q.h"
#include "rl/estimators/generalised_advantages.h"
#include "rl/estimators/novelty.h"
#include "rl/estimators/retrace.h"
#include "rl/estimators/returns.h"
#include "rl/estimators/value_transform.h"
#include "rl/estimators/vtrace.h"
#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

// The inputs of one case and what rlax makes of them.
class Case {
 public:
  explicit Case(const nlohmann::json& values) : values_(values) {}

  Floats floats(const char* name) const { return values_.at(name).get<Floats>(); }
  std::vector<double> doubles(const char* name) const {
    return values_.at(name).get<std::vector<double>>();
  }
  double number(const char* name) const { return values_.at(name).get<double>(); }

 private:
  const nlohmann::json& values_;
};

void ForEachCase(const std::string& estimator, const std::function<void(const Case&)>& check) {
  static const nlohmann::json kGolden =
      nlohmann::json::parse(std::ifstream("tests/golden/estimators.json"));
  REQUIRE(kGolden.at(estimator).size() == 12);
  for (const nlohmann::json& values : kGolden.at(estimator)) {
    INFO(estimator << " " << values.dump());
    check(Case(values));
  }
}

// Calls `check` with each case of returns and its inputs.
void ForEachReturn(const std::string& estimator,
                   const std::function<void(const Case&, const ReturnSteps&)>& check) {
  ForEachCase(estimator, [&](const Case& of) {
    const Floats reward = of.floats("reward");
    const Floats discount = of.floats("discount");
    const Floats trace = of.floats("trace");
    const Floats next_value = of.floats("next_value");
    check(of, {.reward = reward, .discount = discount, .trace = trace, .next_value = next_value});
  });
}

TEST_CASE("returns of random sequences are rlax's", "[golden]") {
  ForEachReturn("discounted", [](const Case& of, const ReturnSteps& steps) {
    RequireClose(DiscountedReturns(steps.reward, steps.discount, of.number("tail")),
                 of.doubles("returns"));
  });
  ForEachReturn("lambda_returns", [](const Case& of, const ReturnSteps& steps) {
    RequireClose(LambdaReturns(steps), of.doubles("returns"));
  });
  const auto n_of = [](const Case& of) { return static_cast<std::size_t>(of.number("n")); };
  ForEachReturn("n_step", [&](const Case& of, const ReturnSteps& steps) {
    RequireClose(NStepReturns(steps, n_of(of)), of.doubles("returns"));
  });
  ForEachReturn("transformed_n_step", [&](const Case& of, const ReturnSteps& steps) {
    RequireClose(TransformedNStepReturns(steps, n_of(of), ValueTransform::kSignedHyperbolic),
                 of.doubles("returns"));
  });
}

TEST_CASE("generalised advantages of random sequences are rlax's", "[golden]") {
  ForEachCase("advantages", [](const Case& of) {
    RequireClose(GeneralisedAdvantages({.reward = of.floats("reward"),
                                        .value = of.floats("value"),
                                        .discount = of.floats("discount"),
                                        .trace = of.floats("trace")}),
                 of.doubles("advantage"));
  });
}

TEST_CASE("V-trace of random sequences, with traces below 1 and two clips, is rlax's", "[golden]") {
  ForEachCase("vtrace", [](const Case& of) {
    const VtraceEstimate estimate = Vtrace(
        {.log_ratio = of.floats("log_ratio"),
         .reward = of.floats("reward"),
         .discount = of.floats("discount"),
         .trace = of.floats("trace"),
         .value = of.floats("value")},
        {.clip_rho = of.number("clip_rho"), .clip_advantage_rho = of.number("clip_advantage_rho")});
    RequireClose(estimate.value, of.doubles("target"));
    RequireClose(estimate.advantage, of.doubles("advantage"));
  });
}

Floats Retraced(const Case& of, ValueTransform transform) {
  const Floats reward = of.floats("reward");
  const Floats action = of.floats("action");
  const Floats policy = of.floats("policy");
  const Floats behaviour = of.floats("behaviour");
  const Floats value = of.floats("value");
  const std::size_t actions = value.size() / (reward.size() + 1);
  Floats log_ratio, action_value, next_value;
  for (std::size_t t = 0; t < reward.size(); ++t) {
    const std::size_t taken = t * actions + static_cast<std::size_t>(action[t]);
    log_ratio.push_back(std::log(policy[taken]) - std::log(behaviour[taken]));
    action_value.push_back(value[taken]);
    const std::size_t next = (t + 1) * actions;
    next_value.push_back(
        static_cast<float>(ExpectedValue(std::span(policy).subspan(next, actions),
                                         std::span(value).subspan(next, actions), transform)));
  }
  return TransformedRetraceTargets({.log_ratio = log_ratio,
                                    .reward = reward,
                                    .discount = of.floats("discount"),
                                    .trace = of.floats("trace"),
                                    .action_value = action_value,
                                    .next_value = next_value},
                                   transform);
}

TEST_CASE("Retrace of random sequences is rlax's, plain and transformed", "[golden]") {
  ForEachCase("retrace", [](const Case& of) {
    RequireClose(Retraced(of, ValueTransform::kIdentity), of.doubles("target"));
  });
  ForEachCase("transformed_retrace", [](const Case& of) {
    RequireClose(Retraced(of, ValueTransform::kSignedHyperbolic), of.doubles("target"));
  });
}

TEST_CASE("double Q targets of random values are rlax's", "[golden]") {
  ForEachCase("double_q", [](const Case& of) {
    REQUIRE(DoubleQTarget(of.number("reward"), of.number("discount"), of.floats("online"),
                          of.floats("target")) == Approx(of.number("expected")).margin(1e-5));
  });
}

TEST_CASE("the transform of random values is rlax's", "[golden]") {
  ForEachCase("transform", [](const Case& of) {
    const Floats value = of.floats("value");
    RequireClose(Apply(ValueTransform::kSignedHyperbolic, value), of.doubles("transformed"));
    RequireClose(Invert(ValueTransform::kSignedHyperbolic, value), of.doubles("inverse"));
  });
}

TEST_CASE("episodic novelty among random embeddings is rlax's", "[golden]") {
  ForEachCase("novelty", [](const Case& of) {
    REQUIRE(EpisodicNovelty(of.floats("squared_distance"), of.number("mean")) ==
            Approx(of.number("reward")).epsilon(1e-5));
  });
}

}  // namespace
}  // namespace shoal::estimators
