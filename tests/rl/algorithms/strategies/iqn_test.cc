// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/algorithms/quantile_loss.h"
#include "rl/model/parameter_layout.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

using Doubles = std::vector<double>;

at::Tensor TensorOf(const Doubles& values) { return at::tensor(values, at::kDouble); }

Doubles DoublesOf(const at::Tensor& tensor) {
  const double* const values = tensor.const_data_ptr<double>();
  return {values, values + tensor.numel()};
}

// The loss of one number against its samples, in the words of the paper.
double LossByHand(double value, double fraction, const Doubles& samples, double kappa) {
  double sum = 0;
  for (const double sample : samples) {
    const double error = sample - value;
    const double weight = std::abs(fraction - (error < 0 ? 1 : 0));
    double huber = std::abs(error);
    if (kappa > 0) {
      huber = huber <= kappa ? error * error / 2 : kappa * (huber - kappa / 2);
      huber /= kappa;
    }
    sum += weight * huber;
  }
  return sum / static_cast<double>(samples.size());
}

// Both spans are of one row's quantiles and the quantiles of its target.
QuantileTerms LossOf(const Doubles& value, const Doubles& fraction, const Doubles& target,
                     double kappa) {
  const auto rows = static_cast<std::int64_t>(value.size());
  return QuantileHuberLoss({.value = TensorOf(value),
                            .fraction = TensorOf(fraction),
                            .target = TensorOf(target).unsqueeze(0).expand({rows, -1})},
                           kappa);
}

TEST_CASE(
    "The loss of a quantile weighs samples above it by its fraction, those below by the rest") {
  // An error of 0.5 above counts 0.25 * 0.125, one of -3 below counts 0.75 * 2.5.
  const QuantileTerms terms = LossOf({1.0}, {0.25}, {1.5, -2.0}, 1);
  REQUIRE(DoublesOf(terms.loss)[0] == Approx((0.25 * 0.125 + 0.75 * 2.5) / 2));
  REQUIRE(DoublesOf(terms.by_value)[0] == Approx((-0.25 * 0.5 + 0.75) / 2));
  const QuantileTerms linear = LossOf({1.0}, {0.25}, {1.5, -2.0}, 0);
  REQUIRE(DoublesOf(linear.loss)[0] == Approx((0.25 * 0.5 + 0.75 * 3) / 2));
  REQUIRE(DoublesOf(linear.by_value)[0] == Approx((-0.25 + 0.75) / 2));
}

TEST_CASE("The loss of random quantiles is that of loops over all pairs, and so is its slope") {
  runtime::Random random(3);
  const auto draw = [&](std::size_t count, double scale) {
    Doubles values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(scale * random.Normal());
    return values;
  };
  for (const double kappa : {0.0, 0.3, 1.0, 5.0}) {
    const Doubles value = draw(7, 2);
    const Doubles target = draw(4, 2);
    Doubles fraction;
    for (std::size_t i = 0; i < value.size(); ++i) fraction.push_back(random.Uniform());
    const QuantileTerms terms = LossOf(value, fraction, target, kappa);
    constexpr double kStep = 1e-6;
    for (std::size_t i = 0; i < value.size(); ++i) {
      REQUIRE(DoublesOf(terms.loss)[i] == Approx(LossByHand(value[i], fraction[i], target, kappa)));
      const double slope = (LossByHand(value[i] + kStep, fraction[i], target, kappa) -
                            LossByHand(value[i] - kStep, fraction[i], target, kappa)) /
                           (2 * kStep);
      REQUIRE(DoublesOf(terms.by_value)[i] == Approx(slope).margin(1e-6));
    }
  }
}

// tests/golden/estimators_golden.py
TEST_CASE("The loss of random quantiles and its gradient are rlax's", "[golden]") {
  const auto golden = nlohmann::json::parse(std::ifstream("tests/golden/estimators.json"));
  const nlohmann::json& cases = golden.at("quantile");
  REQUIRE(cases.size() == 12);
  for (const nlohmann::json& values : cases) {
    INFO(values.dump());
    const QuantileTerms terms =
        LossOf(values.at("value").get<Doubles>(), values.at("fraction").get<Doubles>(),
               values.at("target").get<Doubles>(), values.at("kappa").get<double>());
    REQUIRE(terms.loss.sum().item<double>() == Approx(values.at("loss").get<double>()));
    const auto slope = values.at("by_value").get<Doubles>();
    for (std::size_t i = 0; i < slope.size(); ++i) {
      REQUIRE(DoublesOf(terms.by_value)[i] == Approx(slope[i]).margin(1e-8));
    }
  }
}

AlgorithmOptions IqnOptions() {
  AlgorithmOptions options;
  options.name = "iqn";
  options.update_epochs = 1;
  options.minibatches = 1;
  options.double_q = false;
  return options;
}

model::PolicySpec QuantileSpec() {
  model::PolicySpec spec = SmallSpec();
  spec.action_values = true;
  spec.quantile_cosines = 16;
  return spec;
}

// The parameters of a file as the networks of the learner see them.
struct Learner {
  Learner(const model::PolicySpec& spec, const std::string& file)
      : layout(model::ParameterLayout::Of(spec)), flat(at::zeros({layout.total}, at::kFloat)) {
    const auto size = static_cast<std::size_t>(layout.total);
    REQUIRE(layout.Read(file, spec, {flat.data_ptr<float>(), size}).ok());
    gradient = at::zeros({layout.trainable}, at::kFloat);
    network.emplace(spec, layout, flat, gradient, HeadArithmetic::kRows);
  }

  const model::ParameterLayout layout;
  const at::Tensor flat;
  at::Tensor gradient;
  std::optional<PolicyGradient> network;
};

TEST_CASE("An action's value is the mean of its quantiles at equally spaced fractions") {
  model::PolicySpec spec = QuantileSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  const std::string file = model::InitialParameters(spec, 5).value();
  PointerTask task(spec, {});
  const UnrollBatch batch =
      task.Play(*model::Policy::FromSafetensors(spec, file, nullptr).value(), 7);
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
  Learner learner(spec, file);
  const ActionValueRowsOfBatch greedy = learner.network->EvaluateActionValues(batch, tensors, {});
  const std::size_t rows = greedy.value.size();
  constexpr auto kFractions = static_cast<std::size_t>(model::kMeanFractions);
  std::vector<float> fractions;
  for (std::size_t i = 0; i < rows * kFractions; ++i) {
    fractions.push_back((static_cast<float>(i % kFractions) + 0.5F) / kFractions);
  }
  const std::vector<float> quantiles =
      learner.network->EvaluateQuantiles(batch, tensors, greedy.greedy_action, fractions);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = quantiles.begin() + static_cast<std::ptrdiff_t>(row * kFractions);
    const double sum = std::accumulate(begin, begin + kFractions, 0.0);
    REQUIRE(sum / kFractions == Approx(greedy.value[row]).margin(1e-5));
    // What inference recorded when it acted.
    REQUIRE(greedy.value[row] == Approx(batch.value[row]).margin(1e-5));
  }
}

TEST_CASE("A priority is made of the difference of means, however wide the distributions are") {
  const model::PolicySpec spec = QuantileSpec();
  const std::string file = model::InitialParameters(spec, 5).value();
  PointerTask task(spec, {});
  const UnrollBatch batch =
      task.Play(*model::Policy::FromSafetensors(spec, file, nullptr).value(), 6);
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
  Learner learner(spec, file);
  const std::size_t rows = batch.action.size();
  Targets targets{.advantage = std::vector<float>(rows), .value = std::vector<float>(rows, 2.0F)};
  std::vector<float> all_fractions;
  for (std::size_t row = 0; row < batch.value.size(); ++row) {
    all_fractions.insert(all_fractions.end(), {0.1F, 0.4F, 0.8F});
    if (row >= rows) continue;
    targets.quantile.insert(targets.quantile.end(), {-48.0F, 52.0F});
    targets.fraction.insert(targets.fraction.end(), {0.1F, 0.4F, 0.8F});
  }
  const TargetTensors target_tensors(targets, at::kCPU);
  const auto iqn = MakeAlgorithm(IqnOptions()).value();
  std::vector<std::int64_t> items(rows);
  std::iota(items.begin(), items.end(), 0);
  std::vector<float> errors(rows);
  MinibatchSums sums = learner.network->Add({batch, tensors, target_tensors, *iqn},
                                            IndexList::Of(items, at::kCPU), errors);
  std::vector<std::int64_t> actions = batch.action;
  actions.resize(batch.value.size());
  const std::vector<float> quantiles =
      learner.network->EvaluateQuantiles(batch, tensors, actions, all_fractions);
  double weight = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (batch.weight[row] == 0) continue;
    weight += batch.weight[row];
    const double mean =
        (quantiles[3 * row] + quantiles[3 * row + 1] + quantiles[3 * row + 2]) / 3.0;
    REQUIRE(errors[row] == Approx(std::abs(mean - 2)).margin(1e-5));
  }
  REQUIRE(sums.weight() == Approx(weight));
  REQUIRE(sums.EffectiveSampleSize() == Approx(1));
}

// One observation, after each of two actions a reward and the end.
struct Bandit {
  static constexpr std::int64_t kColumns = 64;
  model::PolicySpec spec;
  runtime::Random random{9};

  Bandit() {
    spec.head = "discrete";
    spec.action_count = 2;
    spec.observation_size = 1;
    spec.content_fields = {};
    spec.past_requests = false;
    spec.hidden = {32};
    spec.value_hidden = {4};
    spec.action_values = true;
    spec.quantile_cosines = 32;
  }

  // The quantile function of an action's reward: a skewed distribution of mean 0, and a uniform one
  // between -1 and 2.
  static double Quantile(std::int64_t action, double fraction) {
    return action == 0 ? 2 * fraction * fraction - 2.0 / 3 : 3 * fraction - 1;
  }

  UnrollBatch Play() {
    UnrollBatch batch;
    batch.length = 1;
    batch.columns = kColumns;
    batch.observation.assign(2 * kColumns, 1.0F);
    batch.value.assign(2 * kColumns, 0.0F);
    batch.flags.assign(2 * kColumns, kFirst);
    for (std::int64_t column = 0; column < kColumns; ++column) {
      const std::int64_t action = column % 2;
      batch.action.push_back(action);
      batch.reward.push_back(static_cast<float>(Quantile(action, random.Uniform())));
      batch.flags[static_cast<std::size_t>(column)] = kFirst | kTerminated;
    }
    batch.weight.assign(kColumns, 1.0F);
    batch.behaviour_log_probability.assign(kColumns, 0.0F);
    return batch;
  }
};

TEST_CASE("The quantiles of a bandit's arms converge to those of its rewards") {
  Bandit bandit;
  AlgorithmOptions options = IqnOptions();
  // Without Huber's bound the loss has the exact quantiles as minimum.
  options.huber = 0;
  options.schedule = "linear";
  options.schedule_updates = 1000;
  options.learning_rate = 1e-2;
  const auto trainer = Trainer(bandit.spec, options);
  for (int update = 0; update < 1000; ++update) REQUIRE(trainer->Update(bandit.Play()).ok());

  const std::string file = trainer->SerializeParameters({}).value();
  const UnrollBatch batch = bandit.Play();
  const BatchTensors tensors =
      MakeBatchTensors(batch, bandit.spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
  Learner learner(bandit.spec, file);
  for (const std::int64_t action : {0, 1}) {
    const std::vector<std::int64_t> actions(2 * Bandit::kColumns, action);
    for (const double fraction : {0.1, 0.3, 0.5, 0.7, 0.9}) {
      INFO("action " << action << " at " << fraction);
      const std::vector<float> fractions(2 * Bandit::kColumns, static_cast<float>(fraction));
      const std::vector<float> quantiles =
          learner.network->EvaluateQuantiles(batch, tensors, actions, fractions);
      REQUIRE(quantiles[0] == Approx(Bandit::Quantile(action, fraction)).margin(0.1));
    }
  }

  // Inference values the arms by the means 0 and 0.5, and takes the second.
  model::SimilarityCache cache;
  model::PolicyInputs inputs;
  inputs.rows = 2;
  inputs.observation = {1, 1};
  inputs.first = {1, 1};
  inputs.draw = {0, 0};
  inputs.choice = {model::Choice::kForced, model::Choice::kGreedy};
  inputs.forced_action = {0, 0};
  const auto policy = PolicyOf(*trainer, bandit.spec);
  const model::PolicyOutputs outputs = policy->Act(inputs, cache).value();
  REQUIRE(outputs.action[1] == 1);
  REQUIRE(outputs.action_value[0] == Approx(0).margin(0.1));
  REQUIRE(outputs.action_value[1] == Approx(0.5).margin(0.1));
}

TEST_CASE("IQN learns to point at what the goal names, with and without its extensions") {
  AlgorithmOptions options = IqnOptions();
  options.learning_rate = 1e-2;
  options.gamma = 0.5;
  options.target_updates = 10;
  REQUIRE(SuccessAfterReplay(QuantileSpec(), options, /*columns=*/16) > 0.8);
  options.double_q = true;
  options.n_step = 2;
  options.transform_values = true;
  model::PolicySpec recurrent = QuantileSpec();
  recurrent.core = "gru";
  REQUIRE(SuccessAfterReplay(recurrent, options, /*columns=*/16) > 0.8);
}

TEST_CASE("A trainer of quantiles that loaded a checkpoint draws the same fractions as before") {
  const doubles::TemporaryFolder folder;
  const model::PolicySpec spec = QuantileSpec();
  AlgorithmOptions options = IqnOptions();
  options.target_updates = 3;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*trainer, spec), 6);
  for (int update = 0; update < 4; ++update) REQUIRE(trainer->Update(batch).ok());
  REQUIRE(trainer->Save(folder.path(), "").ok());
  const auto loaded = Trainer(spec, options);
  REQUIRE(loaded->Load(folder.path()).ok());
  for (int update = 0; update < 4; ++update) {
    REQUIRE(trainer->Update(batch).ok());
    REQUIRE(loaded->Update(batch).ok());
    REQUIRE(loaded->Digest() == trainer->Digest());
  }
}

TEST_CASE("Quantiles without an algorithm for them are refused, and so is IQN without them") {
  collectives::SingleRank alone;
  model::PolicySpec plain = QuantileSpec();
  plain.quantile_cosines = 0;
  const auto without = PolicyTrainer::Create(plain, IqnOptions(), 1, alone);
  REQUIRE(absl::IsInvalidArgument(without.status()));
  AlgorithmOptions dqn = IqnOptions();
  dqn.name = "dqn";
  REQUIRE(absl::IsInvalidArgument(PolicyTrainer::Create(QuantileSpec(), dqn, 1, alone).status()));
  model::PolicySpec dueling = QuantileSpec();
  dueling.dueling = true;
  REQUIRE(absl::IsInvalidArgument(PolicyTrainer::Create(dueling, IqnOptions(), 1, alone).status()));
  model::PolicySpec logits = QuantileSpec();
  logits.action_values = false;
  REQUIRE(absl::IsInvalidArgument(logits.Validate()));
}

}  // namespace
}  // namespace shoal::algorithms
