// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_gradient.h"

#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "platform/runtime/random.h"
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
  Advantages advantages;
  BatchTensors tensors;
  std::vector<std::int64_t> items;

  explicit Setting(const model::PolicySpec& policy) : spec(policy) {
    options.entropy = 0.05;
    options.clip = 10;
    layout = model::ParameterLayout::Of(spec);
    flat = at::zeros({layout.total}, at::kFloat);
    gradient = at::zeros({layout.trainable}, at::kFloat);
    layout.Initialise(5, Values());
    const std::string bytes = model::InitialParameters(spec, 5).value();
    PointerTask task(spec, {});
    batch = task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 6);
    advantages = EstimateAdvantages(batch, {});
    tensors = MakeBatchTensors(batch, spec, advantages.weight);
    const std::int64_t rows = spec.has_core() ? batch.columns : batch.columns * batch.length;
    items.resize(static_cast<std::size_t>(rows));
    std::iota(items.begin(), items.end(), 0);
  }

  std::span<float> Values() const {
    return {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())};
  }

  double Loss(PolicyGradient& policy_gradient) const {
    gradient.zero_();
    MinibatchSums sums = policy_gradient.Add({batch, tensors, advantages}, items);
    return sums.policy_loss() + options.value_coefficient * sums.value_loss() -
           options.entropy * sums.entropy();
  }
};

// Compares the gradient with central differences, parameter by parameter, along random directions.
void RequireGradient(const model::PolicySpec& spec) {
  Setting setting(spec);
  for (const model::ParameterInfo& info : setting.layout.parameters) {
    if (info.offset >= setting.layout.trainable) continue;
    const auto fresh = [&] {
      return PolicyGradient(setting.spec, setting.layout, setting.options, setting.flat,
                            setting.gradient);
    };
    runtime::Random random(11, static_cast<std::uint64_t>(info.offset));
    std::vector<float> direction;
    for (std::int64_t i = 0; i < info.size; ++i) {
      direction.push_back(static_cast<float>(random.Normal()));
    }
    auto at_zero = fresh();
    setting.Loss(at_zero);
    double expected = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i) + info.offset;
      expected += static_cast<double>(setting.gradient.data_ptr<float>()[at]) * direction[i];
    }
    const auto move = [&](float step) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        setting.Values()[i + static_cast<std::size_t>(info.offset)] += step * direction[i];
      }
    };
    constexpr float kStep = 3e-3F;
    move(kStep);
    auto ahead = fresh();
    const double after = setting.Loss(ahead);
    move(-2 * kStep);
    auto behind = fresh();
    const double before = setting.Loss(behind);
    move(kStep);
    const double measured = (after - before) / (2 * static_cast<double>(kStep));
    INFO(info.name << ": gradient " << expected << ", differences " << measured);
    REQUIRE(std::abs(expected) > 1e-5);
    REQUIRE(measured == Approx(expected).epsilon(0.02).margin(0.01));
  }
}

TEST_CASE("the gradient of a pointer policy is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  RequireGradient(spec);
}

TEST_CASE("the gradient with trained keys that project queries up is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.train_keys = true;
  spec.embedding_size = 4;
  spec.projection_size = 40;
  RequireGradient(spec);
}

TEST_CASE("the gradient with trained keys that project candidates down is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.train_keys = true;
  spec.projection_size = 3;
  RequireGradient(spec);
}

TEST_CASE("the gradient through a recurrent core is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.core = "gru";
  RequireGradient(spec);
}

TEST_CASE("the gradient for discrete actions is that of differences") {
  model::PolicySpec spec = SmallSpec();
  spec.head = "discrete";
  spec.action_count = 4;
  spec.query_init = 1.0;
  RequireGradient(spec);
}

}  // namespace
}  // namespace shoal::algorithms
