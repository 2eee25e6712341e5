// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_gradient.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/parameter_layout.h"
#include "tests/rl/algorithms/pointer_task.h"

namespace shoal::algorithms {
namespace {

struct Setting {
  model::PolicySpec spec;
  AlgorithmOptions options;
  model::ParameterLayout layout;
  at::Tensor flat;
  at::Tensor gradient;
  UnrollBatch batch;
  std::unique_ptr<const Algorithm> algorithm;
  BatchTensors tensors;
  std::optional<TargetTensors> targets;
  std::vector<std::int64_t> items;
  std::vector<float> absolute_error;

  Setting(const model::PolicySpec& policy, const std::string& name) {
    options.name = name;
    options.clip = 10;
    // A squared error has no kink: of quantiles it is squared up to the bound, of values without
    // one.
    options.huber = name == "iqn" ? 100 : 0;
    options.reward_scale = 3;
    algorithm = MakeAlgorithm(options).value();
    spec = SpecFor(*algorithm, policy);
    layout = model::ParameterLayout::Of(spec);
    flat = at::zeros({layout.total}, at::kFloat);
    gradient = at::zeros({layout.trainable}, at::kFloat);
    layout.Initialise(5, Values());
    const std::string bytes = model::InitialParameters(spec, 5).value();
    PointerTask task(spec, {});
    batch = task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 6);
    if (spec.action_values) {
      for (std::int64_t b = 0; b < batch.columns; ++b) {
        batch.importance.push_back(0.5F + 0.1F * static_cast<float>(b));
      }
      tensors = MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
      Targets values{.advantage = std::vector<float>(batch.action.size()),
                     .value = algorithm->action_values()->Estimate(batch, {.value = batch.value})};
      if (spec.has_quantiles()) AddQuantiles(values);
      targets.emplace(values, at::kCPU);
      absolute_error.resize(batch.action.size());
    } else {
      tensors =
          MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kWeighted, at::kCPU);
      targets.emplace(algorithm->policy()->Estimate(batch, BehaviourView(batch)), at::kCPU);
    }
    const std::int64_t rows = spec.has_core() ? batch.columns : batch.columns * batch.length;
    items.resize(static_cast<std::size_t>(rows));
    std::iota(items.begin(), items.end(), 0);
  }

  // Adds two quantiles of each target and three fractions.
  static void AddQuantiles(Targets& targets) {
    runtime::Random random(4);
    for (const float value : targets.value) {
      targets.quantile.insert(targets.quantile.end(), {value - 1, value + 2});
      for (int i = 0; i < 3; ++i) {
        targets.fraction.push_back(static_cast<float>(random.Uniform()));
      }
    }
  }

  std::span<float> Values() const {
    return {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())};
  }

  double Loss(PolicyGradient& policy_gradient) {
    gradient.zero_();
    MinibatchSums sums =
        policy_gradient.Add({batch, tensors, *targets, *algorithm, {.entropy = 0.05, .kl = 2}},
                            IndexList::Of(items, at::kCPU), absolute_error);
    return sums.policy_loss() + sums.value_loss();
  }
};

// Compares the gradient with central differences, parameter by parameter, along random directions.
// Of the many rectified units of a convolution some are near their kink, so that it compares less
// closely there; convolution_test.cc compares those gradients in double precision.
void RequireGradient(const model::PolicySpec& spec, const std::string& name) {
  const float step = spec.has_convolution() ? 3e-4F : 3e-3F;
  Setting setting(spec, name);
  for (const model::ParameterInfo& info : setting.layout.parameters) {
    if (info.offset >= setting.layout.trainable) continue;
    const bool has_critic =
        setting.spec.action_values ? setting.spec.dueling : name != "cem" && name != "grpo";
    if (!has_critic && info.name.starts_with("value.")) continue;
    const auto fresh = [&] {
      return PolicyGradient(setting.spec, setting.layout, setting.flat, setting.gradient,
                            HeadArithmetic::kRows);
    };
    runtime::Random random(11, static_cast<std::uint64_t>(info.offset));
    std::vector<float> direction;
    for (std::int64_t i = 0; i < info.size; ++i) {
      direction.push_back(static_cast<float>(random.Normal()));
    }
    auto at_zero = fresh();
    setting.Loss(at_zero);
    double expected = 0;
    double square = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i) + info.offset;
      const double derivative = setting.gradient.data_ptr<float>()[at];
      expected += derivative * direction[i];
      square += derivative * derivative;
    }
    const auto move = [&](float by) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        setting.Values()[i + static_cast<std::size_t>(info.offset)] += by * direction[i];
      }
    };
    move(step);
    auto ahead = fresh();
    const double after = setting.Loss(ahead);
    move(-2 * step);
    auto behind = fresh();
    const double before = setting.Loss(behind);
    move(step);
    const double measured = (after - before) / (2 * static_cast<double>(step));
    const double margin = spec.has_convolution() ? 0.01 + 0.1 * std::sqrt(square) : 0.01;
    INFO(info.name << ": gradient " << expected << ", differences " << measured);
    REQUIRE(std::abs(expected) > 1e-5);
    REQUIRE(measured == Approx(expected).epsilon(0.02).margin(margin));
  }
}

// Checks the gradients of every algorithm whose head has derivatives by hand, of those with action
// values also for a dueling head.
void RequireGradients(model::PolicySpec spec) {
  spec.dueling = true;
  RequireGradient(spec, "dqn");
  spec.dueling = false;
  for (const std::string_view name : AlgorithmNames()) {
    INFO(name);
    // Soft algorithms have a gradient of their own, which sac_test.cc checks.
    if (MakeAlgorithm({.name = std::string(name)}).value()->soft() != nullptr) continue;
    RequireGradient(spec, std::string(name));
  }
}

TEST_CASE("The gradient of every algorithm's loss over candidates is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  RequireGradients(spec);
}

TEST_CASE("The gradient with trained keys that project queries up is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.train_keys = true;
  spec.embedding_size = 4;
  spec.projection_size = 40;
  RequireGradients(spec);
}

TEST_CASE("The gradient with trained keys that project candidates down is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.train_keys = true;
  spec.projection_size = 3;
  RequireGradients(spec);
}

TEST_CASE("The gradient of the weights of candidates' marks is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  RequireGradients(spec);
  spec.train_keys = true;
  RequireGradients(spec);
}

TEST_CASE(
    "The learner gives the log-probabilities and values with which marked candidates were acted "
    "on") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  const auto layout = model::ParameterLayout::Of(spec);
  at::Tensor flat = at::zeros({layout.total}, at::kFloat);
  const std::span<float> values(flat.data_ptr<float>(), static_cast<std::size_t>(layout.total));
  layout.Initialise(5, values);
  // Marks have no weight before training, so they get some here.
  runtime::Random random(3);
  for (const model::ParameterInfo& info : layout.parameters) {
    for (std::int64_t i = 0; info.name.starts_with("marks.") && i < info.size; ++i) {
      values[static_cast<std::size_t>(info.offset + i)] = static_cast<float>(random.Normal());
    }
  }
  const std::string bytes = layout.Write(values, spec, {});
  PointerTask task(spec, {});
  const UnrollBatch batch =
      task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 6);
  PolicyGradient policy_gradient(spec, layout, flat, at::zeros({layout.trainable}, at::kFloat),
                                 HeadArithmetic::kRows);
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kWeighted, at::kCPU);
  const CurrentPolicy current = policy_gradient.Evaluate(batch, tensors);
  for (std::size_t row = 0; row < current.log_probability.size(); ++row) {
    if (batch.weight[row] == 0) continue;
    REQUIRE(current.log_probability[row] ==
            Approx(batch.behaviour_log_probability[row]).margin(1e-5));
    REQUIRE(current.value[row] == Approx(batch.value[row]).margin(1e-5));
  }
}

TEST_CASE("The gradient through a recurrent core is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.core = GENERATE("gru", "lstm");
  RequireGradients(spec);
}

// SmallSpec over frames, beside its contents.
model::PolicySpec OnFrames(const std::string& convolution, std::vector<std::int64_t> shape) {
  model::PolicySpec spec = SmallSpec();
  spec.convolution = convolution;
  spec.frame_shape = std::move(shape);
  spec.observation_size = spec.frame_shape[0] * spec.frame_shape[1] * spec.frame_shape[2];
  return spec;
}

TEST_CASE("The gradient of every algorithm's loss through a convolution is that of differences") {
  RequireGradients(OnFrames("small", {20, 21, 1}));
}

TEST_CASE("The gradient through each convolution, a core behind it too, is that of differences") {
  model::PolicySpec nature = OnFrames("nature", {36, 36, 1});
  model::PolicySpec impala = OnFrames("impala", {6, 5, 2});
  RequireGradient(nature, "ppo");
  RequireGradient(impala, "ppo");
  nature.core = "gru";
  impala.core = "lstm";
  RequireGradient(nature, "dqn");
  RequireGradient(impala, "impala");
}

TEST_CASE("The learner gives the log-probabilities and values with which frames were acted on") {
  for (const bool discrete : {false, true}) {
    for (const std::string core : {"none", "gru"}) {
      model::PolicySpec spec = OnFrames(discrete ? "nature" : "impala", {36, 36, 2});
      spec.core = core;
      if (discrete) {
        spec.head = "discrete";
        spec.action_count = 4;
        spec.query_init = 1;
      }
      const Setting setting(spec, "impala");
      PolicyGradient policy_gradient(spec, setting.layout, setting.flat, setting.gradient,
                                     HeadArithmetic::kRows);
      const CurrentPolicy current = policy_gradient.Evaluate(setting.batch, setting.tensors);
      std::size_t compared = 0;
      for (std::size_t row = 0; row < current.log_probability.size(); ++row) {
        if (setting.batch.weight[row] == 0) continue;
        ++compared;
        REQUIRE(current.log_probability[row] ==
                Approx(setting.batch.behaviour_log_probability[row]).margin(1e-4));
        REQUIRE(current.value[row] == Approx(setting.batch.value[row]).margin(1e-4));
      }
      REQUIRE(compared > 0);
    }
  }
}

TEST_CASE("The gradient of every algorithm's loss over discrete actions is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.head = "discrete";
  spec.action_count = 4;
  spec.query_init = 1.0;
  RequireGradients(spec);
}

at::Tensor Unit(const at::Tensor& rows) { return rows.div(rows.norm(2, {1}, true)); }

// The loss of a row is linear, with a factor for each of the two numbers.
HeadDerivatives Linear(const HeadRows& rows) {
  return {.by_log_probability = at::full_like(rows.log_probability, 0.7),
          .by_entropy = at::full_like(rows.entropy, -0.3)};
}

TEST_CASE("The candidate head equals log-softmax and autograd over base and overlay") {
  constexpr std::int64_t kCatalog = 37;
  constexpr std::int64_t kAppended = 3;
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  const model::ParameterLayout layout = model::ParameterLayout::Of(spec);
  const at::Tensor flat = at::zeros({layout.total}, at::kFloat);
  layout.Initialise(3, {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())});
  const model::Network network(spec, layout, flat, {});
  runtime::Random random(2);
  const auto halves = [&](std::int64_t rows) {
    runtime::Tensor tensor(runtime::DType::kFloat16, {rows, spec.embedding_size});
    auto* const out = reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data());
    for (std::int64_t i = 0; i < rows * spec.embedding_size; ++i) {
      out[i] = runtime::ToHalf(static_cast<float>(random.Normal()));
    }
    return tensor;
  };
  const auto base = model::CandidateTable::Create(halves(kCatalog), {}).value();
  const std::vector<std::uint32_t> removed = {4, 11};
  const auto overlay = model::CandidateTable::Create(halves(kAppended), removed, base).value();

  // There are two rows of one goal: one with the catalog, one with its overlay.
  UnrollBatch batch;
  batch.length = 1;
  batch.columns = 2;
  batch.tables = {base, overlay};
  batch.catalog = {0, 1, 0, 1};
  batch.action = {5, kCatalog + 1};
  batch.flags = {kFirst, kFirst, 0, 0};
  batch.observation.assign(static_cast<std::size_t>(4 * spec.observation_size), 0.0F);
  const runtime::Tensor goal = halves(1);
  const auto* const goal_data = reinterpret_cast<const std::uint16_t*>(goal.bytes().data());
  batch.embeddings.assign(goal_data, goal_data + spec.embedding_size);
  batch.content_index.assign(static_cast<std::size_t>(4 * spec.content_count()), 0);
  batch.past_requests.assign(static_cast<std::size_t>(2 * spec.embedding_size), 0.0F);
  batch.behaviour_log_probability = {-1, -1};
  batch.reward = {0, 0};
  batch.value = {0, 0, 0, 0};
  batch.weight = {1, 1};
  REQUIRE(batch.Validate(spec).ok());
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, batch.weight, EvaluatedRows::kWeighted, at::kCPU);

  at::Tensor queries = at::zeros({2, spec.projection_size}, at::kFloat);
  for (std::int64_t i = 0; i < queries.numel(); ++i) {
    queries.data_ptr<float>()[i] = static_cast<float>(random.Normal());
  }
  std::vector<double> logs(2);
  CandidateHead head(network, {});
  const std::vector<std::int64_t> rows = {0, 1};
  const auto keep = [&](const HeadRows& chunk) {
    for (std::size_t i = 0; i < chunk.positions.size(); ++i) {
      logs[static_cast<std::size_t>(chunk.positions[i])] =
          chunk.log_probability.data_ptr<double>()[i];
    }
    return Linear(chunk);
  };
  const at::Tensor got =
      head.Backward(batch, tensors, rows, batch.action, {.queries = queries, .mark_weights = {}},
                    HeadOutput::kLogits, keep)
          .queries;

  for (std::size_t row = 0; row < 2; ++row) {
    const auto& table = batch.tables[row];
    at::Tensor embeddings = base->tensors().embeddings.to(at::kFloat);
    if (row == 1) embeddings = at::cat({embeddings, overlay->tensors().embeddings.to(at::kFloat)});
    at::Tensor legal = at::ones({table->size()}, at::kDouble);
    for (const std::int32_t index : table->removed()) legal[index] = 0;
    const at::Tensor unit = Unit(tensors.embeddings.narrow(0, 0, 1));
    at::Tensor cosine = Unit(embeddings).mm(unit.t()).squeeze(1).to(at::kDouble);
    const double count = legal.sum().item<double>();
    const double mean = cosine.mul(legal).sum().item<double>() / count;
    const double deviation =
        std::sqrt(cosine.sub(mean).square().mul(legal).sum().item<double>() / count);
    at::Tensor query = queries.narrow(0, static_cast<std::int64_t>(row), 1).to(at::kDouble);
    query.requires_grad_(true);
    at::Tensor logits = network.Keys(embeddings).to(at::kDouble).mm(query.t()).squeeze(1);
    logits = logits.add(cosine.sub(mean).div(deviation)).masked_fill(legal.eq(0), -1e9);
    const at::Tensor log_probabilities = logits.log_softmax(0);
    const at::Tensor entropy = log_probabilities.exp().mul(log_probabilities).sum().neg();
    const at::Tensor chosen = log_probabilities[batch.action[row]];
    chosen.mul(0.7).sub(entropy, 0.3).backward();
    REQUIRE(logs[row] == Approx(chosen.item<double>()).epsilon(1e-5));
    for (std::int64_t i = 0; i < spec.projection_size; ++i) {
      const double expected = query.grad()[0][i].item<double>();
      REQUIRE(got[static_cast<std::int64_t>(row)][i].item<double>() ==
              Approx(expected).epsilon(1e-4).margin(1e-5));
    }
  }
}

}  // namespace
}  // namespace shoal::algorithms
