// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/gaussian_head.h"

#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/model/gaussian.h"
#include "rl/model/parameter_layout.h"
#include "tests/rl/algorithms/point_episodes.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

model::PolicySpec GaussianSpec() {
  model::PolicySpec spec;
  spec.head = "gaussian";
  spec.observation_size = 3;
  spec.action_count = 2;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {16};
  spec.value_hidden = {16};
  spec.query_init = 1;
  return spec;
}

// Parameters whose deviations differ from one another and from 1.
struct Parameters {
  explicit Parameters(const model::PolicySpec& spec)
      : layout(model::ParameterLayout::Of(spec)),
        flat(at::zeros({layout.total}, at::kFloat)),
        gradient(at::zeros({layout.trainable}, at::kFloat)) {
    layout.Initialise(5, numbers());
    const auto at = static_cast<std::size_t>(layout.Find(model::kLogDeviation)->offset);
    numbers()[at] = 0.4F;
    numbers()[at + 1] = -0.8F;
  }
  std::span<float> numbers() const {
    return {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())};
  }
  std::shared_ptr<const model::Policy> Policy(const model::PolicySpec& spec) const {
    return model::Policy::FromSafetensors(spec, layout.Write(numbers(), spec, {}), nullptr).value();
  }

  model::ParameterLayout layout;
  at::Tensor flat;
  at::Tensor gradient;
};

TEST_CASE("The head states the log-density and the entropy of a Gaussian for each row") {
  const at::Tensor head = at::zeros({2, 4}, at::kFloat);
  const at::Tensor action = at::zeros({2, 2}, at::kFloat);
  const std::vector<float> numbers = {0.5F, 0.25F, -1, 0.3F, -0.2F, 0, 3, -9};
  std::copy(numbers.begin(), numbers.end(), head.data_ptr<float>());
  action.data_ptr<float>()[0] = 1.75F;
  action.data_ptr<float>()[2] = -0.2F;
  int calls = 0;
  RunGaussianHead(head, action, [&](const HeadRows& rows) {
    ++calls;
    for (std::size_t row = 0; row < 2; ++row) {
      double log_density = 0;
      double entropy = 0;
      for (std::size_t i = 0; i < 2; ++i) {
        const model::Gaussian gaussian(numbers[4 * row + i], numbers[4 * row + 2 + i]);
        log_density += gaussian.LogDensity(action.data_ptr<float>()[2 * row + i]);
        entropy += gaussian.Entropy();
      }
      REQUIRE(rows.log_probability.data_ptr<double>()[row] == Approx(log_density).epsilon(1e-12));
      REQUIRE(rows.entropy.data_ptr<double>()[row] == Approx(entropy).epsilon(1e-12));
    }
    REQUIRE(rows.greedy.data_ptr<double>()[0] == 0);
    REQUIRE(rows.greedy.data_ptr<double>()[1] == 1);
    return HeadDerivatives{};
  });
  REQUIRE(calls == 1);
}

TEST_CASE("The learner gives the log-densities and values with which a box was acted in") {
  for (const std::string core : {"none", "gru", "lstm"}) {
    model::PolicySpec spec = GaussianSpec();
    spec.core = core;
    const Parameters parameters(spec);
    const UnrollBatch batch =
        PointEpisodes(*parameters.Policy(spec), 200, 3, model::Choice::kSample);
    PolicyGradient policy_gradient(spec, parameters.layout, parameters.flat, parameters.gradient,
                                   HeadArithmetic::kRows);
    const BatchTensors tensors =
        MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kWeighted, at::kCPU);
    const CurrentPolicy current = policy_gradient.Evaluate(batch, tensors);
    REQUIRE(current.log_probability.size() == 200);
    for (std::size_t row = 0; row < 200; ++row) {
      REQUIRE(current.log_probability[row] ==
              Approx(batch.behaviour_log_probability[row]).margin(1e-5));
      REQUIRE(current.value[row] == Approx(batch.value[row]).margin(1e-5));
    }
  }
}

// Compares the gradient with central differences along random directions, parameter by parameter.
void RequireGradient(const std::string& name, const std::string& core) {
  INFO(name << ", core " << core);
  model::PolicySpec spec = GaussianSpec();
  spec.core = core;
  AlgorithmOptions options;
  options.name = name;
  options.clip = 10;
  const auto algorithm = MakeAlgorithm(options).value();
  const Parameters parameters(spec);
  const UnrollBatch batch = PointEpisodes(*parameters.Policy(spec), 64, 3, model::Choice::kSample);
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kWeighted, at::kCPU);
  const TargetTensors targets(algorithm->policy()->Estimate(batch, BehaviourView(batch)), at::kCPU);
  std::vector<std::int64_t> items(64);
  std::iota(items.begin(), items.end(), 0);
  const auto loss = [&] {
    parameters.gradient.zero_();
    PolicyGradient policy_gradient(spec, parameters.layout, parameters.flat, parameters.gradient,
                                   HeadArithmetic::kRows);
    MinibatchSums sums =
        policy_gradient.Add({batch, tensors, targets, *algorithm, {.entropy = 0.3, .kl = 0}},
                            IndexList::Of(items, at::kCPU), {});
    return sums.policy_loss() + sums.value_loss();
  };
  const bool has_critic = name != "cem" && name != "grpo";
  for (const model::ParameterInfo& info : parameters.layout.parameters) {
    if (!has_critic && info.name.starts_with("value.")) continue;
    // A row that begins an episode has no state.
    if (info.name == "core.state.weight") continue;
    runtime::Random random(11, static_cast<std::uint64_t>(info.offset));
    std::vector<float> direction(static_cast<std::size_t>(info.size));
    for (float& number : direction) number = static_cast<float>(random.Normal());
    const auto move = [&](float by) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        parameters.numbers()[i + static_cast<std::size_t>(info.offset)] += by * direction[i];
      }
    };
    loss();
    double expected = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      expected +=
          parameters.gradient.data_ptr<float>()[info.offset + static_cast<std::int64_t>(i)] *
          direction[i];
    }
    move(1e-3F);
    const double after = loss();
    move(-2e-3F);
    const double before = loss();
    move(1e-3F);
    INFO(info.name << ": gradient " << expected << ", differences " << (after - before) / 2e-3);
    REQUIRE(expected != 0);
    REQUIRE((after - before) / 2e-3 == Approx(expected).epsilon(0.02).margin(0.02));
  }
}

TEST_CASE("The gradient of every algorithm of policies over a box is that of differences") {
  for (const std::string_view name : AlgorithmNames()) {
    const std::string algorithm(name);
    if (MakeAlgorithm({.name = algorithm}).value()->policy() == nullptr) continue;
    RequireGradient(algorithm, "none");
  }
  RequireGradient("ppo", "lstm");
}

TEST_CASE("PPO learns which point of a box the observation names, and narrows its Gaussian") {
  const model::PolicySpec spec = GaussianSpec();
  AlgorithmOptions options;
  options.learning_rate = 1e-2;
  options.minibatches = 4;
  options.update_epochs = 4;
  options.entropy = 0;
  const auto trainer = Trainer(spec, options);
  const auto mean_reward = [&](model::Choice choice) {
    const UnrollBatch batch = PointEpisodes(*PolicyOf(*trainer, spec), 200, 1000, choice);
    return std::accumulate(batch.reward.begin(), batch.reward.end(), 0.0) / 200;
  };
  REQUIRE(mean_reward(model::Choice::kSample) < -1);
  for (std::uint64_t update = 0; update < 150; ++update) {
    const UnrollBatch batch =
        PointEpisodes(*PolicyOf(*trainer, spec), 256, update, model::Choice::kSample);
    REQUIRE(trainer->Update(batch).ok());
  }
  REQUIRE(mean_reward(model::Choice::kGreedy) > -0.02);
  REQUIRE(mean_reward(model::Choice::kSample) > -0.1);
}

TEST_CASE("An algorithm that cannot act in a box refuses the head, and says which can") {
  collectives::SingleRank alone;
  const auto refused = [&](const model::PolicySpec& spec, const std::string& name) {
    AlgorithmOptions options;
    options.name = name;
    const auto trainer = PolicyTrainer::Create(spec, options, 1, alone);
    REQUIRE(trainer.status().code() == absl::StatusCode::kInvalidArgument);
    return runtime::Message(trainer.status());
  };
  const model::PolicySpec spec = GaussianSpec();
  REQUIRE(refused(spec, "dqn").find("discrete actions") != std::string::npos);
  REQUIRE(refused(spec, "iqn").find("gaussian with ppo") != std::string::npos);
  REQUIRE(refused(spec, "sac").find("policy.head") != std::string::npos);
  const auto trainer = Trainer(spec);
  const UnrollBatch batch = PointEpisodes(*PolicyOf(*trainer, spec), 4, 1, model::Choice::kSample);
  REQUIRE(runtime::Message(trainer->CloneBehaviour(batch, 1e-3).status()).find("cloned") !=
          std::string::npos);
}

TEST_CASE("A Gaussian's actions may lie outside of the box, but are finite") {
  const model::PolicySpec spec = GaussianSpec();
  const auto trainer = Trainer(spec);
  UnrollBatch batch = PointEpisodes(*PolicyOf(*trainer, spec), 4, 1, model::Choice::kSample);
  batch.box_action[1] = 1.5F;
  REQUIRE(trainer->Update(batch).ok());
  batch.box_action[1] = std::nanf("");
  REQUIRE(trainer->Update(batch).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal::algorithms
