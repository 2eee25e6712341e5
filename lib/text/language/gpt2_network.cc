// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_network.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <map>
#include <utility>

#include "platform/runtime/check.h"
#include "text/language/checkpointing.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using Parameters = std::map<std::string, at::Tensor>;

// Returns a view of `flat` from `offset` on, which adds its gradient into one of `gradient`.
at::Tensor Leaf(const model::ParameterInfo& info, std::int64_t offset, const at::Tensor& flat,
                const at::Tensor& gradient) {
  at::Tensor view = flat.narrow(0, offset, info.size).view(info.shape).detach();
  if (gradient.defined()) {
    view.requires_grad_(true);
    view.mutable_grad() = gradient.narrow(0, offset, info.size).view(info.shape);
  }
  return view;
}

Parameters Bind(const model::ParameterLayout& layout, const at::Tensor& flat,
                const at::Tensor& gradient) {
  Parameters parameters;
  for (const model::ParameterInfo& info : layout.parameters) {
    parameters.emplace(info.name, Leaf(info, info.offset, flat, gradient));
  }
  return parameters;
}

}  // namespace

Gpt2Network::Gpt2Network(const Gpt2Config& config, const at::Tensor& flat,
                         const at::Tensor& gradient, const NetworkOptions& options)
    : config_(config), options_(options), trains_(gradient.defined()) {
  const model::ParameterLayout layout = Gpt2Layout(config);
  const Parameters all = Bind(layout, flat, gradient);
  const std::string prefix(kPrefix);
  const std::int64_t begin = layout.Find(BlockPrefix(0) + "ln_1.weight")->offset;
  if (trains_ && options_.compute != at::kFloat) {
    const std::int64_t size = layout.Find(prefix + "ln_f.weight")->offset - begin;
    block_parameters_ = flat.narrow(0, begin, size);
    block_gradient_ = gradient.narrow(0, begin, size);
    rounded_parameters_ = block_parameters_.to(options_.compute);
    rounded_gradient_ = at::zeros_like(rounded_parameters_);
  }
  const auto stored = [&](const std::string& name) {
    if (!rounded_parameters_.defined()) return all.at(name).to(options_.compute);
    const model::ParameterInfo& info = *layout.Find(name);
    return Leaf(info, info.offset - begin, rounded_parameters_, rounded_gradient_);
  };
  const auto linear = [&](const std::string& name) {
    return Linear{stored(name + ".weight"), stored(name + ".bias"), {}, {}};
  };
  const auto norm = [&](const std::string& name) {
    return Norm{all.at(name + ".weight"), all.at(name + ".bias")};
  };
  embedding_ = all.at(prefix + "wte.weight");
  positions_ = all.at(prefix + "wpe.weight");
  last_norm_ = norm(prefix + "ln_f");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string name = BlockPrefix(i);
    blocks_.push_back({norm(name + "ln_1"), linear(name + "attn.c_attn"),
                       linear(name + "attn.c_proj"), norm(name + "ln_2"), linear(name + "mlp.c_fc"),
                       linear(name + "mlp.c_proj")});
  }
}

void Gpt2Network::Refresh() {
  if (rounded_parameters_.defined()) rounded_parameters_.copy_(block_parameters_);
}

void Gpt2Network::CollectGradients() {
  if (!rounded_gradient_.defined()) return;
  block_gradient_.add_(rounded_gradient_);
  rounded_gradient_.zero_();
}

void Gpt2Network::Adapt(const LoraOptions& adapter, const at::Tensor& flat,
                        const at::Tensor& gradient) {
  const Parameters all = Bind(LoraLayout(config_, adapter), flat, gradient);
  adapter_scale_ = adapter.scale();
  const std::map<std::string, Linear Block::*> layers = {{"attn.c_attn", &Block::attention_in},
                                                         {"attn.c_proj", &Block::attention_out},
                                                         {"mlp.c_fc", &Block::feed_in},
                                                         {"mlp.c_proj", &Block::feed_out}};
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    for (const std::string& layer : adapter.layers) {
      Linear& linear = blocks_[static_cast<std::size_t>(i)].*layers.at(layer);
      linear.a = all.at(BlockPrefix(i) + layer + ".lora_A");
      linear.b = all.at(BlockPrefix(i) + layer + ".lora_B");
    }
  }
}

at::Tensor Gpt2Network::Embed(const PackedTokens& tokens) const {
  const at::Tensor words = at::embedding(embedding_, tokens.ids);
  const at::Tensor places = at::embedding(positions_, tokens.positions);
  return at::GradMode::is_enabled() ? words.add(places) : words.add_(places);
}

at::Tensor Gpt2Network::Normed(const Norm& norm, const at::Tensor& x) const {
  return at::layer_norm(x, {config_.width}, norm.weight, norm.bias, config_.norm_epsilon)
      .to(options_.compute);
}

at::Tensor Gpt2Network::Apply(const Linear& linear, const at::Tensor& x) const {
  const auto type = options_.compute;
  at::Tensor y = at::addmm(linear.bias, x, linear.weight);
  if (!linear.a.defined()) return y;
  const at::Tensor low = at::mm(x, linear.a.to(type).t());
  return at::addmm(y, low, linear.b.to(type).t(), 1, adapter_scale_);
}

at::Tensor Gpt2Network::Run(std::int64_t block, const at::Tensor& x, const PackedTokens& tokens,
                            KeyValues* past) const {
  const Block& layers = blocks_[static_cast<std::size_t>(block)];
  const at::Tensor qkv = Apply(layers.attention_in, Normed(layers.norm1, x));
  const at::Tensor seen =
      past == nullptr ? PackedAttention(qkv, tokens, config_.heads) : past->Attend(block, qkv);
  at::Tensor middle = x.add(Apply(layers.attention_out, seen));
  at::Tensor wide = Apply(layers.feed_in, Normed(layers.norm2, middle));
  if (at::GradMode::is_enabled()) {
    return middle.add(Apply(layers.feed_out, at::gelu(wide, "tanh")));
  }
  at::gelu_(wide, "tanh");
  return middle.add_(Apply(layers.feed_out, wide));
}

std::vector<at::Tensor> Gpt2Network::Leaves(const Block& block) const {
  std::vector<at::Tensor> leaves = {block.norm1.weight, block.norm1.bias, block.norm2.weight,
                                    block.norm2.bias};
  for (const Linear* linear :
       {&block.attention_in, &block.attention_out, &block.feed_in, &block.feed_out}) {
    for (const at::Tensor& leaf : {linear->weight, linear->bias, linear->a, linear->b}) {
      if (leaf.defined()) leaves.push_back(leaf);
    }
  }
  return leaves;
}

at::Tensor Gpt2Network::RunCheckpointed(std::int64_t block, const at::Tensor& x,
                                        const PackedTokens& tokens) const {
  const auto run = [this, block, tokens](const at::Tensor& input) {
    return Run(block, input, tokens, nullptr);
  };
  return Checkpointed(run, x, Leaves(blocks_[static_cast<std::size_t>(block)]));
}

at::Tensor Gpt2Network::Hidden(const PackedTokens& tokens, std::int64_t layer) const {
  SHOAL_CHECK(layer >= 0 && layer <= config_.layers);
  at::Tensor x = Embed(tokens);
  for (std::int64_t block = 0; block < layer; ++block) {
    x = options_.checkpoint ? RunCheckpointed(block, x, tokens) : Run(block, x, tokens, nullptr);
  }
  if (layer < config_.layers) return x;
  return at::layer_norm(x, {config_.width}, last_norm_.weight, last_norm_.bias,
                        config_.norm_epsilon);
}

at::Tensor Gpt2Network::Continue(const PackedTokens& tokens, KeyValues& past) const {
  at::Tensor x = Embed(tokens);
  for (std::int64_t block = 0; block < config_.layers; ++block) x = Run(block, x, tokens, &past);
  past.Advance(tokens.ids.size(0));
  return at::layer_norm(x, {config_.width}, last_norm_.weight, last_norm_.bias,
                        config_.norm_epsilon);
}

at::Tensor Gpt2Network::Logits(const at::Tensor& hidden) const {
  return at::linear(hidden, embedding_);
}

}  // namespace shoal::language
