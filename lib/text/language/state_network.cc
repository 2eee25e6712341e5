// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_network.h"

#include <ATen/ops/adaptive_avg_pool1d.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "text/language/state_folder.h"

namespace shoal::language {
namespace {

// Below this length a vector counts as zero.
constexpr double kLeastLength = 1e-6;
// More than any activation.
constexpr double kFarOff = 1e30;

// Returns [S, 1, T], 1 where the text has a state.
at::Tensor MaskOf(const at::Tensor& lengths, std::int64_t longest) {
  return at::arange(longest, lengths.options())
      .unsqueeze(0)
      .lt(lengths.unsqueeze(1))
      .unsqueeze(1)
      .to(at::kFloat);
}

}  // namespace

StateNetwork::StateNetwork(const StateConfig& config, const model::ParameterLayout& layout,
                           const at::Tensor& flat, const at::Tensor& gradient)
    : config_(config) {
  for (const model::ParameterInfo& info : layout.parameters) {
    at::Tensor view = flat.narrow(0, info.offset, info.size).view(info.shape).detach();
    if (gradient.defined() && info.name != kStateMean && info.name != kStateScale) {
      view.requires_grad_(true);
      view.mutable_grad() = gradient.narrow(0, info.offset, info.size).view(info.shape);
    }
    parameters_.emplace(info.name, std::move(view));
  }
}

at::Tensor StateNetwork::Standardised(const at::Tensor& hidden) const {
  return hidden.sub(Parameter(kStateMean)).mul_(Parameter(kStateScale));
}

at::Tensor StateNetwork::Latents(const PaddedStates& padded) const {
  at::Tensor x = padded.states;
  at::Tensor lengths = padded.lengths;
  at::Tensor mask;
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::string name = "conv." + std::to_string(i);
    x = at::conv1d(x, Parameter(name + ".weight"), Parameter(name + ".bias"), /*stride=*/2,
                   /*padding=*/config_.kernel / 2);
    lengths = lengths.add(1).floor_divide(2);
    mask = MaskOf(lengths, x.size(2));
    x = at::gelu(x).mul(mask);
  }
  const at::Tensor mean = x.sum(2).div(lengths.unsqueeze(1));
  const at::Tensor maximum = x.add(mask.sub(1).mul(kFarOff)).amax(2);
  const at::Tensor latent =
      at::linear(at::cat({mean, maximum}, 1), Parameter("latent.weight"), Parameter("latent.bias"));
  return latent.div(at::linalg_vector_norm(latent, 2, {1}, true).clamp_min(kLeastLength));
}

at::Tensor StateNetwork::Decode(const at::Tensor& latents) const {
  at::Tensor x = at::linear(latents, Parameter("decoder.in.weight"), Parameter("decoder.in.bias"))
                     .view({latents.size(0), config_.channels, 2});
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::string name = "decoder." + std::to_string(i);
    x = at::conv_transpose1d(at::gelu(x), Parameter(name + ".weight"), Parameter(name + ".bias"),
                             /*stride=*/2, /*padding=*/1);
  }
  return x;
}

PaddedStates Padded(const at::Tensor& states, const std::vector<std::int64_t>& starts,
                    const std::vector<std::int64_t>& texts) {
  std::vector<std::int64_t> lengths;
  for (const std::int64_t text : texts) {
    const auto at = static_cast<std::size_t>(text);
    lengths.push_back(starts[at + 1] - starts[at]);
  }
  const auto count = static_cast<std::int64_t>(texts.size());
  const std::int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  at::Tensor padded = at::zeros({count, longest, states.size(1)}, states.options());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    padded[static_cast<std::int64_t>(i)]
        .narrow(0, 0, lengths[i])
        .copy_(states.narrow(0, starts[static_cast<std::size_t>(texts[i])], lengths[i]));
  }
  return {padded.transpose(1, 2).contiguous(),
          at::tensor(lengths, at::TensorOptions(at::kLong)).to(states.device())};
}

at::Tensor Binned(const PaddedStates& padded, std::int64_t bins) {
  const at::Tensor lengths = padded.lengths.to(at::kCPU);
  std::vector<at::Tensor> means;
  for (std::int64_t text = 0; text < padded.states.size(0); ++text) {
    const std::int64_t length = lengths.data_ptr<std::int64_t>()[text];
    means.push_back(at::adaptive_avg_pool1d(padded.states[text].narrow(1, 0, length), bins));
  }
  return at::stack(means);
}

}  // namespace shoal::language
