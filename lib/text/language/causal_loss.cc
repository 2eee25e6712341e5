// SPDX-License-Identifier: Apache-2.0
#include "text/language/causal_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "platform/runtime/check.h"

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

template <typename T>
at::Tensor Copy(const std::vector<T>& values, at::ScalarType type, at::Device device) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, type);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor.to(device);
}

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
  targets.rows = Copy(rows, at::kLong, device);
  targets.ids = Copy(ids, at::kLong, device);
  targets.weights = Copy(kept, at::kFloat, device);
  return targets;
}

struct Fused : torch::autograd::Function<Fused> {
  // Returns the sum, and the weight of the correctly predicted targets.
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden,
                               const at::Tensor& embedding, const Targets& targets,
                               at::ScalarType compute, std::int64_t rows_at_once,
                               bool with_gradients) {
    const at::Tensor output = embedding.to(compute);
    at::Tensor sum = at::zeros({}, hidden.options().dtype(at::kFloat));
    at::Tensor correct = at::zeros_like(sum);
    at::Tensor hidden_gradient;
    at::Tensor output_gradient;
    if (with_gradients && hidden.requires_grad()) hidden_gradient = at::zeros_like(hidden);
    if (with_gradients && embedding.requires_grad()) output_gradient = at::zeros_like(embedding);
    const std::int64_t count = targets.rows.size(0);
    for (std::int64_t first = 0; first < count; first += rows_at_once) {
      const std::int64_t size = std::min(rows_at_once, count - first);
      const at::Tensor rows = targets.rows.narrow(0, first, size);
      const at::Tensor ids = targets.ids.narrow(0, first, size).unsqueeze(1);
      const at::Tensor weights = targets.weights.narrow(0, first, size);
      const at::Tensor input = at::index_select(hidden, 0, rows).to(compute);
      at::Tensor logits = at::mm(input, output.t()).to(at::kFloat);
      const at::Tensor total = at::logsumexp(logits, 1, /*keepdim=*/true);
      const at::Tensor chosen = logits.gather(1, ids);
      sum.add_(total.sub(chosen).squeeze(1).mul(weights).sum());
      correct.add_(logits.argmax(1, true).eq(ids).squeeze(1).to(at::kFloat).mul(weights).sum());
      if (!with_gradients) continue;
      // Softmax minus the target, computed in place of the logits.
      logits.sub_(total).exp_().mul_(weights.unsqueeze(1));
      logits.scatter_add_(1, ids, weights.neg().unsqueeze(1));
      const at::Tensor gradient = logits.to(compute);
      if (hidden_gradient.defined()) {
        hidden_gradient.index_copy_(0, rows, at::mm(gradient, output).to(hidden.scalar_type()));
      }
      if (!output_gradient.defined()) continue;
      if (compute == embedding.scalar_type()) {
        output_gradient.addmm_(gradient.t(), input);
      } else {
        output_gradient.add_(at::mm(gradient.t(), input));
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
    return {scaled(saved[0]), scaled(saved[1]), {}, {}, {}, {}};
  }
};

}  // namespace

CausalLoss ComputeCausalLoss(const at::Tensor& hidden, const at::Tensor& embedding,
                             const TokenBatch& batch, std::span<const float> weights,
                             at::ScalarType compute, std::int64_t rows_at_once) {
  SHOAL_CHECK(hidden.size(0) == batch.tokens() && rows_at_once >= 1);
  SHOAL_CHECK(weights.empty() || weights.size() == batch.ids.size());
  const bool with_gradients =
      at::GradMode::is_enabled() && (hidden.requires_grad() || embedding.requires_grad());
  const Targets targets = FindTargets(batch, weights, hidden.device());
  const variable_list outputs =
      Fused::apply(hidden, embedding, targets, compute, rows_at_once, with_gradients);
  return {outputs[0], targets.weight, outputs[1].item<double>()};
}

}  // namespace shoal::language
