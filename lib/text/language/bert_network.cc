// SPDX-License-Identifier: Apache-2.0
#include "text/language/bert_network.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include <map>
#include <string>

#include "text/language/bert_folder.h"

namespace shoal::language {

BertNetwork::BertNetwork(const BertConfig& config, const at::Tensor& flat, at::ScalarType compute)
    : config_(config), compute_(compute) {
  std::map<std::string, at::Tensor> all;
  for (const model::ParameterInfo& info : BertLayout(config).parameters) {
    all.emplace(info.name, flat.narrow(0, info.offset, info.size).view(info.shape));
  }
  const auto dense = [&](const std::string& name) {
    return Dense{all.at(name + ".weight").to(compute), all.at(name + ".bias").to(compute)};
  };
  const auto norm = [&all](const std::string& name) {
    return Norm{all.at(name + ".weight"), all.at(name + ".bias")};
  };
  words_ = all.at("embeddings.word_embeddings.weight");
  positions_ = all.at("embeddings.position_embeddings.weight")
                   .add(all.at("embeddings.token_type_embeddings.weight").narrow(0, 0, 1));
  embedding_norm_ = norm("embeddings.LayerNorm");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string name = BertLayerPrefix(i);
    const auto joined = [&](const char* what) {
      const std::string self = name + "attention.self.";
      return at::cat({all.at(self + "query" + what), all.at(self + "key" + what),
                      all.at(self + "value" + what)})
          .to(compute);
    };
    layers_.push_back({{joined(".weight"), joined(".bias")},
                       dense(name + "attention.output.dense"),
                       norm(name + "attention.output.LayerNorm"),
                       dense(name + "intermediate.dense"),
                       dense(name + "output.dense"),
                       norm(name + "output.LayerNorm")});
  }
}

at::Tensor BertNetwork::Normed(const Norm& norm, const at::Tensor& x) const {
  return at::layer_norm(x, {config_.width}, norm.weight, norm.bias, config_.norm_epsilon);
}

at::Tensor BertNetwork::Apply(const Dense& dense, const at::Tensor& x) const {
  return at::linear(x.to(compute_), dense.weight, dense.bias);
}

at::Tensor BertNetwork::Hidden(const PackedTokens& tokens) const {
  const at::Tensor places = at::embedding(positions_, tokens.positions);
  at::Tensor x = Normed(embedding_norm_, at::embedding(words_, tokens.ids).add_(places));
  for (const Layer& layer : layers_) {
    const at::Tensor qkv = Apply(layer.attention_in, x);
    const at::Tensor seen = PackedAttentionToAll(qkv, tokens, config_.heads);
    x.add_(Apply(layer.attention_out, seen));
    x = Normed(layer.attention_norm, x);
    at::Tensor wide = Apply(layer.feed_in, x);
    at::gelu_(wide);
    x.add_(Apply(layer.feed_out, wide));
    x = Normed(layer.feed_norm, x);
  }
  return x;
}

}  // namespace shoal::language
