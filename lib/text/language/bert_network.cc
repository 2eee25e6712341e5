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

BertNetwork::BertNetwork(const BertConfig& config, const at::Tensor& flat) : config_(config) {
  std::map<std::string, at::Tensor> all;
  for (const model::ParameterInfo& info : BertLayout(config).parameters) {
    all.emplace(info.name, flat.narrow(0, info.offset, info.size).view(info.shape));
  }
  const auto dense = [&all](const std::string& name) {
    return Dense{all.at(name + ".weight"), all.at(name + ".bias")};
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
                      all.at(self + "value" + what)});
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

at::Tensor BertNetwork::Hidden(const PackedTokens& tokens) const {
  const at::Tensor places = at::embedding(positions_, tokens.positions);
  at::Tensor x = Normed(embedding_norm_, at::embedding(words_, tokens.ids).add_(places));
  for (const Layer& layer : layers_) {
    const at::Tensor qkv = at::linear(x, layer.attention_in.weight, layer.attention_in.bias);
    const at::Tensor seen = PackedAttentionToAll(qkv, tokens, config_.heads);
    x.add_(at::linear(seen, layer.attention_out.weight, layer.attention_out.bias));
    x = Normed(layer.attention_norm, x);
    at::Tensor wide = at::linear(x, layer.feed_in.weight, layer.feed_in.bias);
    at::gelu_(wide);
    x.add_(at::linear(wide, layer.feed_out.weight, layer.feed_out.bias));
    x = Normed(layer.feed_norm, x);
  }
  return x;
}

}  // namespace shoal::language
