// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/estimators/value_transform.h"
#include "rl/model/parameter_layout.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions DqnOptions() {
  AlgorithmOptions options;
  options.name = "dqn";
  options.update_epochs = 1;
  options.minibatches = 1;
  return options;
}

model::PolicySpec ActionValueSpec() {
  model::PolicySpec spec = SmallSpec();
  spec.action_values = true;
  return spec;
}

// One column of five rows: an episode that terminates with the second, one that is truncated with
// the third before a FINAL row, and the first step of a further one.
UnrollBatch ThreeEpisodes() {
  UnrollBatch batch;
  batch.length = 5;
  batch.columns = 1;
  batch.flags = {kFirst, kTerminated, kFirst | kTruncated, kFinal, kFirst, 0};
  batch.reward = {1, 2, 3, 0, 5};
  batch.value = {0, 0, 0, 0, 0, 0};
  batch.weight = {1, 1, 1, 0, 1};
  batch.behaviour_log_probability = {0, 0, 0, 0, 0};
  return batch;
}

TEST_CASE(
    "A target ends with its episode, bootstraps where it was truncated, and stops at n steps") {
  const std::vector<float> value = {10, 20, 30, 40, 50, 60};
  const ActionValueTargetOptions one = {.gamma = 0.5};
  const std::vector<float> targets = ActionValueTargets(ThreeEpisodes(), value, one);
  REQUIRE(targets[0] == 1 + .5F * 20);
  REQUIRE(targets[1] == 2);
  REQUIRE(targets[2] == 3 + .5F * 40);
  REQUIRE(targets[4] == 5 + .5F * 60);
  const ActionValueTargetOptions three = {.gamma = 0.5, .reward_scale = 2, .n_step = 3};
  const std::vector<float> longer = ActionValueTargets(ThreeEpisodes(), value, three);
  REQUIRE(longer[0] == 2 + .5F * 4);
  REQUIRE(longer[1] == 4);
  REQUIRE(longer[2] == 6 + .5F * 40);
  REQUIRE(longer[4] == 10 + .5F * 60);
}

TEST_CASE("Each row has the discount of the family's policy that its observation names") {
  UnrollBatch batch = ThreeEpisodes();
  // Of three numbers the last two name the policy.
  for (const int member : {0, 0, 1, 1, 1, 1}) {
    batch.observation.insert(batch.observation.end(),
                             {9.0F, member == 0 ? 1.0F : 0.0F, member == 1 ? 1.0F : 0.0F});
  }
  const std::vector<float> value = {10, 20, 30, 40, 50, 60};
  const ActionValueTargetOptions family = {.gamma = 0.1, .member_gamma = {0.5, 0.25}};
  const std::vector<float> targets = ActionValueTargets(batch, value, family);
  REQUIRE(targets[0] == 1 + .5F * 20);
  REQUIRE(targets[1] == 2);
  REQUIRE(targets[2] == 3 + .25F * 40);
  REQUIRE(targets[4] == 5 + .25F * 60);
  batch.action.assign(5, 0);
  const std::vector<std::int64_t> preferred(6, 0);
  const std::vector<float> retraced = RetraceActionValueTargets(
      batch, {.preferred_action = preferred, .value = value, .recorded_value = value}, 0, family);
  REQUIRE(retraced[0] == 1 + .5F * 20);
  REQUIRE(retraced[2] == 3 + .25F * 40);
}

TEST_CASE("A family's discounts go from gamma to least_gamma, and the network sees its policies") {
  AlgorithmOptions options;
  options.members = 3;
  options.gamma = 0.99;
  options.least_gamma = 0.9;
  const auto gammas = options.action_value_targets().member_gamma;
  REQUIRE(gammas.size() == 3);
  REQUIRE(gammas[0] == Approx(0.99));
  REQUIRE(gammas[1] == Approx(1 - std::sqrt(0.01 * 0.1)));
  REQUIRE(gammas[2] == Approx(0.9));
  model::PolicySpec policy;
  policy.action_values = true;
  policy.observation_size = 122;
  REQUIRE(options.AppendMembers(policy).ok());
  REQUIRE(policy.observation_size == 125);
  policy.action_values = false;
  REQUIRE(absl::IsInvalidArgument(options.AppendMembers(policy)));
  policy.action_values = true;
  policy.convolution = "nature";
  REQUIRE(absl::IsInvalidArgument(options.AppendMembers(policy)));
  policy.convolution = "none";
  for (const double gamma : {1.0, 0.5, 0.0}) {
    options.gamma = gamma;
    REQUIRE(absl::IsInvalidArgument(options.AppendMembers(policy)));
  }
  options.members = 0;
  REQUIRE(options.AppendMembers(policy).ok());
  REQUIRE(policy.observation_size == 125);
  REQUIRE(options.action_value_targets().member_gamma.empty());
}

TEST_CASE(
    "Where a final observation was lost, earlier rows bootstrap from the row before the end") {
  UnrollBatch batch = ThreeEpisodes();
  batch.flags = {kFirst, kTruncated, kFirst, 0, 0, 0};
  const std::vector<float> value = {10, 20, 30, 40, 50, 60};
  const std::vector<float> targets = ActionValueTargets(batch, value, {.gamma = 0.5, .n_step = 2});
  REQUIRE(targets[0] == 1 + .5F * 20);
  REQUIRE(targets[2] == 3 + .25F * 50);
}

TEST_CASE(
    "Retrace looks on as long as the preferred actions were taken, and as far as the episode") {
  UnrollBatch batch = ThreeEpisodes();
  batch.length = 6;
  batch.flags = {kFirst, 0, kTerminated, kFirst, kTruncated, kFinal, 0};
  batch.reward = {1, 2, 3, 4, 5, 0};
  batch.value.assign(7, 0);
  batch.weight = {1, 1, 1, 1, 1, 0};
  batch.behaviour_log_probability.assign(6, -1);
  batch.action = {0, 1, 0, 1, 1, -1};
  const std::vector<float> value = {10, 20, 30, 40, 50, 60, 70};
  const std::vector<float> recorded = {9, 19, 29, 39, 49, 59, 69};
  const std::vector<std::int64_t> preferred = {0, 1, 1, 1, 1, 0, 0};
  const ActionValueTargetOptions options = {.gamma = 0.5, .reward_scale = 2};
  const std::vector<float> targets = RetraceActionValueTargets(
      batch, {.preferred_action = preferred, .value = value, .recorded_value = recorded}, 0.8,
      options);
  REQUIRE(targets[2] == 6);
  // The third action was not the preferred one.
  REQUIRE(targets[1] == 4 + .5F * 30);
  REQUIRE(targets[0] == Approx(2 + .5 * (20 + .8 * (19 - 19))));
  REQUIRE(targets[4] == 10 + .5F * 60);
  REQUIRE(targets[3] == Approx(8 + .5 * (50 + .8 * (40 - 49))));
  // Without its final observation a truncated row tells the row before nothing new.
  batch.flags = {kFirst, 0, kTerminated, kFirst, kTruncated, kFirst, 0};
  const std::vector<float> lost = RetraceActionValueTargets(
      batch, {.preferred_action = preferred, .value = value, .recorded_value = recorded}, 0.8,
      options);
  REQUIRE(lost[3] == 8 + .5F * 50);
  REQUIRE(lost[4] == 49);
  const ActionValueTargetOptions transformed = {.gamma = 0.5, .transformed = true};
  const auto in = [](double x) {
    return estimators::Invert(estimators::ValueTransform::kSignedHyperbolic, x);
  };
  batch.flags = {kFirst, 0, kTerminated, kFirst, kTruncated, kFinal, 0};
  REQUIRE(
      RetraceActionValueTargets(
          batch, {.preferred_action = preferred, .value = value, .recorded_value = recorded}, 0.8,
          transformed)[3] ==
      Approx(estimators::SignedHyperbolic(4 + .5 * (in(50) + .8 * (5 + .5 * in(60) - in(49))))));
}

TEST_CASE("A trainer with Retrace learns, and needs action values without quantiles") {
  AlgorithmOptions options = DqnOptions();
  options.retrace = true;
  options.learning_rate = 1e-2;
  options.gamma = 0.5;
  options.target_updates = 10;
  REQUIRE(SuccessAfterReplay(ActionValueSpec(), options, /*columns=*/32) > 0.8);
  collectives::SingleRank alone;
  options.name = "ppo";
  REQUIRE(absl::IsInvalidArgument(PolicyTrainer::Create(SmallSpec(), options, 1, alone).status()));
}

TEST_CASE("Transformed targets leave the space of values before rewards are added") {
  UnrollBatch batch;
  batch.length = 3;
  batch.columns = 1;
  batch.flags = {kTerminated, kFirst, 0, 0};
  batch.reward = {-1.3F, -1.3F, 2.3F};
  batch.value = {0, 0, 0, 0};
  batch.weight = {1, 1, 1};
  batch.behaviour_log_probability = {0, 0, 0};
  const double gamma = 0.87;
  const std::vector<float> value = {1.2F, 0.2F, 2.2F, 0.9F};
  const std::vector<float> targets =
      ActionValueTargets(batch, value, {.gamma = gamma, .n_step = 2, .transformed = true});
  const auto h = [](double x) { return estimators::SignedHyperbolic(x); };
  const auto inverse = [](double y) { return estimators::InverseSignedHyperbolic(y); };
  REQUIRE(targets[0] == Approx(h(-1.3)));
  REQUIRE(targets[1] == Approx(h(-1.3 + gamma * 2.3 + gamma * gamma * inverse(0.9F))));
  REQUIRE(targets[2] == Approx(h(2.3 + gamma * inverse(0.9F))));
}

TEST_CASE("Errors above Huber's bound count linearly, and priorities see them whole") {
  AlgorithmOptions options = DqnOptions();
  options.huber = 2;
  const auto dqn = MakeAlgorithm(options).value();
  const ActionValueTerms terms =
      dqn->action_values()->Loss({.action_value = at::tensor({1.0, 1.0, 1.0}, at::kDouble),
                                  .target = at::tensor({0.0, 4.0, -9.0}, at::kDouble)});
  const auto at = [](const at::Tensor& tensor, int i) { return tensor[i].item<double>(); };
  REQUIRE(at(terms.loss, 0) == Approx(0.5));
  REQUIRE(at(terms.loss, 1) == Approx(2 * (3 - 1)));
  REQUIRE(at(terms.loss, 2) == Approx(2 * (10 - 1)));
  REQUIRE(at(terms.by_action_value, 0) == Approx(1));
  REQUIRE(at(terms.by_action_value, 1) == Approx(-2));
  REQUIRE(at(terms.by_action_value, 2) == Approx(2));
  REQUIRE(at(terms.error, 2) == Approx(10));
}

// What `flat` says of all rows of a batch that inference has played with the same parameters.
void RequireTheValuesOfInference(model::PolicySpec spec) {
  spec.action_values = true;
  struct Form {
    bool dueling = false;
    std::int64_t quantile_cosines = 0;
  };
  for (const Form& form : {Form{}, Form{.dueling = true}, Form{.quantile_cosines = 5}}) {
    spec.dueling = form.dueling;
    spec.quantile_cosines = form.quantile_cosines;
    const auto layout = model::ParameterLayout::Of(spec);
    const at::Tensor flat = at::zeros({layout.total}, at::kFloat);
    layout.Initialise(5, {flat.data_ptr<float>(), static_cast<std::size_t>(layout.total)});
    const std::string bytes = model::InitialParameters(spec, 5).value();
    PointerTask task(spec, {});
    const UnrollBatch batch =
        task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 7);
    PolicyGradient network(spec, layout, flat, {}, HeadArithmetic::kRows);
    const BatchTensors tensors =
        MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
    const ActionValueRowsOfBatch greedy = network.EvaluateActionValues(batch, tensors, {});
    const ActionValueRowsOfBatch chosen =
        network.EvaluateActionValues(batch, tensors, greedy.greedy_action);
    for (std::size_t row = 0; row < batch.value.size(); ++row) {
      REQUIRE(greedy.value[row] == Approx(batch.value[row]).margin(1e-5));
      REQUIRE(chosen.value[row] == Approx(batch.value[row]).margin(1e-5));
    }
  }
}

TEST_CASE(
    "The learner finds the greatest action values that inference found, final rows included") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  RequireTheValuesOfInference(spec);
  spec.core = GENERATE("gru", "lstm");
  RequireTheValuesOfInference(spec);
  spec.candidate_marks = 0;
  spec.head = "discrete";
  spec.action_count = 4;
  RequireTheValuesOfInference(spec);
}

TEST_CASE("DQN learns to point at what the goal names, with and without its extensions") {
  AlgorithmOptions options = DqnOptions();
  options.learning_rate = 1e-2;
  options.gamma = 0.5;
  options.target_updates = 10;
  options.double_q = false;
  REQUIRE(SuccessAfterReplay(ActionValueSpec(), options, /*columns=*/32) > 0.8);
  options.double_q = true;
  options.n_step = 2;
  options.transform_values = true;
  model::PolicySpec recurrent = ActionValueSpec();
  recurrent.dueling = true;
  for (const char* const core : {"gru", "lstm"}) {
    recurrent.core = core;
    REQUIRE(SuccessAfterReplay(recurrent, options, /*columns=*/32) > 0.8);
  }
}

TEST_CASE("A double-Q target is the target network's value of what the trained network prefers") {
  // Two updates apart, the networks differ; the plain target is never below the double one.
  const model::PolicySpec spec = ActionValueSpec();
  AlgorithmOptions options = DqnOptions();
  options.learning_rate = 5e-2;
  options.target_updates = 1000;
  const auto mean_target = [&](bool double_q) {
    options.double_q = double_q;
    const auto trainer = Trainer(spec, options);
    PointerTask fresh(spec, {});
    const UnrollBatch batch = fresh.Play(*PolicyOf(*trainer, spec), 6);
    double mean = 0;
    for (int update = 0; update < 4; ++update) mean = trainer->Update(batch).value().mean_return;
    return mean;
  };
  REQUIRE(mean_target(true) < mean_target(false));
}

TEST_CASE("A trainer of action values that loaded a checkpoint goes on with the same bits") {
  const doubles::TemporaryFolder folder;
  const model::PolicySpec spec = ActionValueSpec();
  AlgorithmOptions options = DqnOptions();
  options.target_updates = 3;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
  for (int update = 0; update < 4; ++update) REQUIRE(trainer->Update(batch).ok());
  REQUIRE(trainer->Save(folder.path(), "").ok());
  const auto loaded = Trainer(spec, options);
  REQUIRE(loaded->Load(folder.path()).ok());
  for (int update = 0; update < 4; ++update) {
    const auto priorities = trainer->Update(batch).value().priorities;
    REQUIRE(loaded->Update(batch).value().priorities == priorities);
    REQUIRE(loaded->Digest() == trainer->Digest());
  }
}

TEST_CASE("The priority of an unroll mixes its greatest and its mean absolute error") {
  const model::PolicySpec spec = ActionValueSpec();
  AlgorithmOptions options = DqnOptions();
  options.learning_rate = 0;
  const auto priorities = [&](double share) {
    options.priority_maximum_share = share;
    const auto trainer = Trainer(spec, options);
    PointerTask task(spec, {});
    return trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).value().priorities;
  };
  const std::vector<float> greatest = priorities(1);
  const std::vector<float> mean = priorities(0);
  const std::vector<float> mixed = priorities(0.9);
  REQUIRE(greatest.size() == 8);
  for (std::size_t b = 0; b < greatest.size(); ++b) {
    REQUIRE(greatest[b] > mean[b]);
    REQUIRE(mixed[b] == Approx(0.9 * greatest[b] + 0.1 * mean[b]));
  }
}

TEST_CASE("An algorithm of action values and a policy of logits are refused together") {
  collectives::SingleRank alone;
  AlgorithmOptions options = DqnOptions();
  const auto of_logits = PolicyTrainer::Create(SmallSpec(), options, 1, alone);
  REQUIRE(absl::IsInvalidArgument(of_logits.status()));
  options.name = "ppo";
  const auto of_values = PolicyTrainer::Create(ActionValueSpec(), options, 1, alone);
  REQUIRE(absl::IsInvalidArgument(of_values.status()));
}

}  // namespace
}  // namespace shoal::algorithms
