// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/chosen_head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/torch_device.h"
#include "tests/rl/algorithms/pointer_task.h"

namespace shoal::algorithms {
namespace {

using Numbers = std::vector<float>;

at::Tensor Normal(runtime::Random& random, std::int64_t rows, std::int64_t columns) {
  at::Tensor tensor = at::empty({rows, columns}, at::kFloat);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    tensor.data_ptr<float>()[i] = static_cast<float>(random.Normal());
  }
  return tensor.requires_grad_(true);
}

// What a head says of rows, and the derivatives of a linear loss by its inputs and parameters.
struct HeadOutcome {
  Numbers chosen;
  Numbers by_head;
  Numbers by_mark_weights;
  Numbers by_parameters;
};

void RequireEqual(const Numbers& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("the head of chosen actions says of them what the head of all actions says") {
  model::PolicySpec spec = SmallSpec();
  const bool discrete = GENERATE(false, true);
  if (discrete) {
    spec.head = "discrete";
    spec.action_count = 4;
  } else {
    spec.similarity_weight = 1;
    spec.candidate_marks = 3;
    spec.train_keys = GENERATE(false, true);
  }
  spec = SpecFor(*MakeAlgorithm({.name = "dqn"}).value(), spec);
  const model::ParameterLayout layout = model::ParameterLayout::Of(spec);
  const at::Tensor flat = at::zeros({layout.total}, at::kFloat);
  layout.Initialise(5, {flat.data_ptr<float>(), static_cast<std::size_t>(layout.total)});
  const at::Tensor gradient = at::zeros({layout.trainable}, at::kFloat);
  const model::Network network(spec, layout, flat, gradient);

  const std::string bytes = model::InitialParameters(spec, 5).value();
  PointerTask task(spec, {});
  UnrollBatch batch = task.Play(*model::Policy::FromSafetensors(spec, bytes, nullptr).value(), 6);
  std::int64_t appended = 0;
  if (!discrete) {
    AddOverlay(batch, spec.embedding_size);
    const auto overlay = static_cast<std::int32_t>(batch.tables.size() - 1);
    for (std::size_t i = 0; i < batch.action.size(); ++i) {
      if (batch.catalog[i] != overlay || i % 3 == 0) continue;
      batch.action[i] = batch.tables.front()->size() + ++appended % 2;
    }
    REQUIRE(appended > 1);
  }
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
  // Each row comes twice, as it does with two quantiles.
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < batch.action.size(); ++i) {
    if (batch.weight[i] > 0) rows.insert(rows.end(), 2, static_cast<std::int64_t>(i));
  }
  const std::vector<std::int64_t> actions = RecordedActions(batch, rows);

  const auto outcome = [&](const auto& run) {
    runtime::Random random(7);
    const auto count = static_cast<std::int64_t>(rows.size());
    const BatchedHead::Rows inputs{
        .head = Normal(random, count, discrete ? spec.action_count : spec.projection_size),
        .mark_weights = discrete ? at::Tensor() : Normal(random, count, spec.candidate_marks)};
    const at::Tensor factor = Normal(random, count, 1).detach().flatten().to(at::kDouble);
    gradient.zero_();
    HeadOutcome seen;
    seen.chosen.resize(rows.size());
    const BatchedHead::Derivatives derivatives = run(inputs, [&](const HeadRows& head) {
      const Numbers chosen = model::OnHost(head.chosen);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        seen.chosen[static_cast<std::size_t>(head.positions[i])] = chosen[i];
      }
      return HeadDerivatives{.by_chosen =
                                 factor.index_select(0, model::CopyUp(head.positions, at::kCPU))};
    });
    torch::autograd::backward(derivatives.of, derivatives.by);
    seen.by_head = model::OnHost(inputs.head.grad());
    if (!discrete) seen.by_mark_weights = model::OnHost(inputs.mark_weights.grad());
    seen.by_parameters = model::OnHost(gradient);
    return seen;
  };
  BatchedHead all(network, spec.train_keys);
  const HeadOutcome expected = outcome([&](const BatchedHead::Rows& inputs, const HeadLoss& loss) {
    return all.Run(batch, tensors, IndexList::Of(rows, at::kCPU), IndexList::Of(actions, at::kCPU),
                   inputs, HeadOutput::kActionValues, loss);
  });
  const ChosenHead chosen(network);
  const HeadOutcome found = outcome([&](const BatchedHead::Rows& inputs, const HeadLoss& loss) {
    return chosen.Run(batch, tensors, rows, IndexList::Of(actions, at::kCPU), inputs, loss);
  });
  RequireEqual(found.chosen, expected.chosen);
  RequireEqual(found.by_head, expected.by_head);
  RequireEqual(found.by_mark_weights, expected.by_mark_weights);
  RequireEqual(found.by_parameters, expected.by_parameters);
}

}  // namespace
}  // namespace shoal::algorithms
