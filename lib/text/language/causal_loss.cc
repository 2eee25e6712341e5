// SPDX-License-Identifier: Apache-2.0
#include "text/language/causal_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/max.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "platform/runtime/check.h"
#include "rl/model/torch_device.h"

namespace shoal::language {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The rows of hidden that have a target, with the targets' ids and weights.
struct Targets {
  at::Tensor rows;     // [R], int64
  at::Tensor ids;      // [R], int64
  at::Tensor weights;  // [R], float32
  double weight = 0;
};

Targets FindTargets(const TokenBatch& batch, std::span<const float> weights, at::Device device) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> ids;
  std::vector<float> kept;
  Targets targets;
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const std::int64_t end = batch.starts[static_cast<std::size_t>(s) + 1];
    for (std::int64_t t = batch.starts[static_cast<std::size_t>(s)] + 1; t < end; ++t) {
      const auto target = static_cast<std::size_t>(t);
      const float weight = weights.empty() ? 1.0F : weights[target];
      if (weight == 0) continue;
      rows.push_back(t - 1);
      ids.push_back(batch.ids[target]);
      kept.push_back(weight);
      targets.weight += weight;
    }
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  model::DeviceBatch arrays(device);
  const auto row_array = arrays.Add(std::span<const std::int64_t>(rows));
  const auto id_array = arrays.Add(std::span<const std::int64_t>(ids));
  const auto weight_array = arrays.Add(std::span<const float>(kept));
  arrays.Send();
  targets.rows = arrays.Get(row_array, {count});
  targets.ids = arrays.Get(id_array, {count});
  targets.weights = arrays.Get(weight_array, {count});
  return targets;
}

// The output layer, with rows of zeros up to a multiple.
struct Output {
  Output(const at::Tensor& embedding, const CausalLossOptions& options)
      : vocabulary(embedding.size(0)) {
    const std::int64_t multiple = options.vocabulary_multiple;
    const std::int64_t filled = (vocabulary + multiple - 1) / multiple * multiple;
    if (filled == vocabulary) {
      weight = embedding.to(options.compute);
      return;
    }
    const auto type = embedding.options().dtype(options.compute);
    weight = at::zeros({filled, embedding.size(1)}, type);
    weight.narrow(0, 0, vocabulary).copy_(embedding);
    bias = at::zeros({filled}, type);
    bias.narrow(0, vocabulary, filled - vocabulary).fill_(-std::numeric_limits<double>::infinity());
  }

  at::Tensor Logits(const at::Tensor& input) const {
    return bias.defined() ? at::addmm(bias, input, weight.t()) : at::mm(input, weight.t());
  }

  const std::int64_t vocabulary;
  at::Tensor weight;  // [filled, D]
  at::Tensor bias;    // [filled], undefined where nothing was filled
};

struct Fused : torch::autograd::Function<Fused> {
  // Returns the sum, and the weight of the correctly predicted targets.
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden,
                               const at::Tensor& embedding, const Targets& targets,
                               const CausalLossOptions& options, bool with_gradients) {
    const Output output(embedding, options);
    at::Tensor sum = at::zeros({}, hidden.options().dtype(at::kFloat));
    at::Tensor correct = at::zeros_like(sum);
    at::Tensor hidden_gradient;
    at::Tensor output_gradient;
    if (with_gradients && hidden.requires_grad()) hidden_gradient = at::zeros_like(hidden);
    if (with_gradients && embedding.requires_grad()) output_gradient = at::zeros_like(embedding);
    const std::int64_t count = targets.rows.size(0);
    for (std::int64_t first = 0; first < count; first += options.rows_at_once) {
      const std::int64_t size = std::min(options.rows_at_once, count - first);
      const at::Tensor rows = targets.rows.narrow(0, first, size);
      const at::Tensor ids = targets.ids.narrow(0, first, size).unsqueeze(1);
      const at::Tensor weights = targets.weights.narrow(0, first, size);
      const at::Tensor input = at::index_select(hidden, 0, rows).to(options.compute);
      const at::Tensor logits = output.Logits(input);
      const auto [highest, best] = at::max(logits, 1, /*keepdim=*/true);
      at::Tensor probabilities = at::softmax(logits, 1);
      // The most probable token tells the logarithm of the sum of all, since its probability is
      // never as small as to lose digits.
      const at::Tensor losses = highest.to(at::kFloat)
                                    .sub(logits.gather(1, ids))
                                    .sub(probabilities.gather(1, best).to(at::kFloat).log());
      sum.add_(losses.squeeze(1).mul(weights).sum());
      correct.add_(best.eq(ids).squeeze(1).to(at::kFloat).mul(weights).sum());
      if (!with_gradients) continue;
      // The gradient of a row's logits is its weight times softmax minus target; weights are
      // multiplied with the rows of D numbers on either side.
      probabilities.scatter_add_(1, ids, at::full_like(highest, -1));
      if (hidden_gradient.defined()) {
        hidden_gradient.index_copy_(0, rows,
                                    at::mm(probabilities, output.weight)
                                        .to(hidden.scalar_type())
                                        .mul_(weights.unsqueeze(1)));
      }
      if (!output_gradient.defined()) continue;
      const at::Tensor weighted = input.mul(weights.unsqueeze(1)).to(options.compute);
      const at::Tensor columns = probabilities.narrow(1, 0, output.vocabulary).t();
      if (options.compute == output_gradient.scalar_type()) {
        output_gradient.addmm_(columns, weighted);
      } else {
        output_gradient.add_(at::mm(columns, weighted));
      }
    }
    if (with_gradients) context->save_for_backward({hidden_gradient, output_gradient});
    context->mark_non_differentiable({correct});
    return {sum, correct};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto scaled = [&](const at::Tensor& gradient) {
      return gradient.defined() ? gradient.mul(gradients[0]) : gradient;
    };
    return {scaled(saved[0]), scaled(saved[1]), {}, {}, {}};
  }
};

}  // namespace

CausalLoss ComputeCausalLoss(const at::Tensor& hidden, const at::Tensor& embedding,
                             const TokenBatch& batch, std::span<const float> weights,
                             const CausalLossOptions& options) {
  SHOAL_CHECK(hidden.size(0) == batch.tokens());
  SHOAL_CHECK(options.rows_at_once >= 0 && options.vocabulary_multiple >= 0);
  SHOAL_CHECK(weights.empty() || weights.size() == batch.ids.size());
  CausalLossOptions chosen = options;
  const bool gpu = hidden.is_cuda();
  if (chosen.rows_at_once == 0) chosen.rows_at_once = gpu ? 8192 : 1024;
  if (chosen.vocabulary_multiple == 0) chosen.vocabulary_multiple = gpu ? 64 : 1;
  const bool with_gradients =
      at::GradMode::is_enabled() && (hidden.requires_grad() || embedding.requires_grad());
  const Targets targets = FindTargets(batch, weights, hidden.device());
  const variable_list outputs = Fused::apply(hidden, embedding, targets, chosen, with_gradients);
  return {outputs[0], targets.weight, outputs[1]};
}

}  // namespace shoal::language
