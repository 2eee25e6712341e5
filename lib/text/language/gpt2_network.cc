// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_network.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <map>
#include <utility>

#include "platform/runtime/check.h"
#include "rl/training/tensor_memory.h"
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
    : Gpt2Network(config, flat.split_with_sizes(Gpt2Units(config, options.tensor_ranks)),
                  gradient.defined()
                      ? gradient.split_with_sizes(Gpt2Units(config, options.tensor_ranks))
                      : std::vector<at::Tensor>(),
                  options) {}

Gpt2Network::Gpt2Network(const Gpt2Config& config, const std::vector<at::Tensor>& parameters,
                         const std::vector<at::Tensor>& gradients, const NetworkOptions& options)
    : config_(config), options_(options), trains_(!gradients.empty()) {
  const model::ParameterLayout layout = Gpt2Layout(config, options_.tensor_ranks);
  const std::string prefix(kPrefix);
  const bool rounds = trains_ && options_.compute != at::kFloat;
  Parameters all;
  Parameters stored;
  std::size_t unit = 0;
  std::int64_t origin = 0;
  for (const model::ParameterInfo& info : layout.parameters) {
    if (info.offset >= origin + parameters[unit].numel()) origin += parameters[unit++].numel();
    const bool of_block = unit > 0 && unit + 1 < parameters.size();
    const at::Tensor gradient = trains_ ? gradients[unit] : at::Tensor();
    if (rounds && of_block && rounded_.size() < unit) {
      const at::Tensor as = at::empty_like(parameters[unit], options_.compute);
      rounded_.push_back({parameters[unit], gradient, as, at::zeros_like(as)});
      if (options_.by_unit) Drop(static_cast<std::int64_t>(rounded_.size()) - 1);
    }
    const std::int64_t offset = info.offset - origin;
    at::Tensor leaf = Leaf(info, offset, parameters[unit], gradient);
    if (of_block) {
      stored.emplace(info.name, rounds ? Leaf(info, offset, rounded_.back().rounded_parameters,
                                              rounded_.back().rounded_gradient)
                                       : leaf.to(options_.compute));
    }
    all.emplace(info.name, std::move(leaf));
  }
  const auto linear = [&](const std::string& name) {
    return Linear{stored.at(name + ".weight"), stored.at(name + ".bias"), {}, {}};
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
  if (!options_.by_unit) Refresh();
}

void Gpt2Network::Refresh() {
  for (const Rounded& block : rounded_) block.rounded_parameters.copy_(block.parameters);
}

void Gpt2Network::CollectGradients() {
  for (std::int64_t block = 0; block < config_.layers; ++block) CollectGradients(block);
}

void Gpt2Network::Hold(std::int64_t block) {
  if (rounded_.empty()) return;
  const Rounded& held = rounded_[static_cast<std::size_t>(block)];
  training::AllocateMemory(held.rounded_parameters);
  training::AllocateMemory(held.rounded_gradient);
  held.rounded_parameters.copy_(held.parameters);
  held.rounded_gradient.zero_();
}

void Gpt2Network::CollectGradients(std::int64_t block) {
  if (rounded_.empty()) return;
  const Rounded& of_block = rounded_[static_cast<std::size_t>(block)];
  of_block.gradient.add_(of_block.rounded_gradient);
  of_block.rounded_gradient.zero_();
}

void Gpt2Network::Drop(std::int64_t block) {
  if (rounded_.empty()) return;
  const Rounded& held = rounded_[static_cast<std::size_t>(block)];
  training::ReleaseMemory(held.rounded_parameters);
  training::ReleaseMemory(held.rounded_gradient);
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

at::Tensor Gpt2Network::ApplyColumns(const Linear& linear, const at::Tensor& x) const {
  return Apply(linear, options_.tensor_ranks == 1 ? x : Spread(x, options_.tensor_sum));
}

at::Tensor Gpt2Network::ApplyRows(const Linear& linear, const at::Tensor& x) const {
  if (options_.tensor_ranks == 1) return Apply(linear, x);
  // The bias, which every rank has, counts once.
  return Summed(at::mm(x, linear.weight), options_.tensor_sum).add(linear.bias);
}

at::Tensor Gpt2Network::Run(std::int64_t block, const at::Tensor& x, const PackedTokens& tokens,
                            KeyValues* past) const {
  const Block& layers = blocks_[static_cast<std::size_t>(block)];
  const at::Tensor qkv = ApplyColumns(layers.attention_in, Normed(layers.norm1, x));
  const std::int64_t heads = config_.heads / options_.tensor_ranks;
  const at::Tensor seen =
      past == nullptr ? PackedAttention(qkv, tokens, heads) : past->Attend(block, qkv);
  at::Tensor middle = x.add(ApplyRows(layers.attention_out, seen));
  at::Tensor wide = ApplyColumns(layers.feed_in, Normed(layers.norm2, middle));
  if (at::GradMode::is_enabled()) {
    return middle.add(ApplyRows(layers.feed_out, at::gelu(wide, "tanh")));
  }
  at::gelu_(wide, "tanh");
  return middle.add_(ApplyRows(layers.feed_out, wide));
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

std::vector<std::vector<at::Tensor>> Gpt2Network::UnitLeaves() const {
  std::vector<std::vector<at::Tensor>> units = {{}};
  for (const Block& block : blocks_) units.push_back(Leaves(block));
  units.push_back({last_norm_.weight, last_norm_.bias});
  return units;
}

at::Tensor Gpt2Network::RunCheckpointed(std::int64_t block, const at::Tensor& x,
                                        const PackedTokens& tokens) const {
  const auto run = [this, block, tokens](const at::Tensor& input) {
    return Run(block, input, tokens, nullptr);
  };
  return Checkpointed(run, x, Leaves(blocks_[static_cast<std::size_t>(block)]));
}

at::Tensor Gpt2Network::RunBlock(std::int64_t block, const at::Tensor& x,
                                 const PackedTokens& tokens) const {
  return options_.checkpoint ? RunCheckpointed(block, x, tokens) : Run(block, x, tokens, nullptr);
}

at::Tensor Gpt2Network::LastNormed(const at::Tensor& x) const {
  return at::layer_norm(x, {config_.width}, last_norm_.weight, last_norm_.bias,
                        config_.norm_epsilon);
}

at::Tensor Gpt2Network::RunBlocks(const at::Tensor& x, const PackedTokens& tokens) const {
  at::Tensor y = x;
  for (std::int64_t block = 0; block < config_.layers; ++block) y = RunBlock(block, y, tokens);
  return LastNormed(y);
}

at::Tensor Gpt2Network::Hidden(const PackedTokens& tokens, std::int64_t layer) const {
  SHOAL_CHECK(layer >= 0 && layer <= config_.layers);
  at::Tensor x = Embed(tokens);
  if (layer == config_.layers) return RunBlocks(x, tokens);
  for (std::int64_t block = 0; block < layer; ++block) x = RunBlock(block, x, tokens);
  return x;
}

void Gpt2Network::AddEmbeddingGradient(const at::Tensor& ids, const at::Tensor& positions,
                                       const at::Tensor& gradient) {
  const auto add = [&gradient](const at::Tensor& table, const at::Tensor& rows) {
    table.mutable_grad().add_(at::embedding_dense_backward(gradient, rows, table.size(0),
                                                           /*padding_idx=*/-1,
                                                           /*scale_grad_by_freq=*/false));
  };
  add(embedding_, ids);
  add(positions_, positions);
}

at::Tensor Gpt2Network::Continue(const PackedTokens& tokens, KeyValues& past) const {
  at::Tensor x = Embed(tokens);
  for (std::int64_t block = 0; block < config_.layers; ++block) x = Run(block, x, tokens, &past);
  past.Advance(tokens.ids.size(0));
  return LastNormed(x);
}

at::Tensor Gpt2Network::Logits(const at::Tensor& hidden) const {
  return at::linear(hidden, embedding_);
}

}  // namespace shoal::language
