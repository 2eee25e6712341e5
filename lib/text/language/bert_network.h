// SPDX-License-Identifier: Apache-2.0
// BERT's layers over one flat array of parameters, for inference.
//
// This header shows torch and is for this folder. Methods throw what torch throws. Immutable;
// thread-safe. The residual, norms and outputs are float32; the matrices of layers and attention
// compute in `compute`.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "text/language/bert_config.h"
#include "text/language/packed_attention.h"

namespace shoal::language {

class BertNetwork {
 public:
  // `flat` is in the order of BertLayout(config), on the device to compute on; `compute` is kFloat
  // or kBFloat16. REQUIRES: config is valid.
  BertNetwork(const BertConfig& config, const at::Tensor& flat, at::ScalarType compute);

  // Returns the last hidden states, [T, D].
  at::Tensor Hidden(const PackedTokens& tokens) const;

 private:
  struct Dense {
    at::Tensor weight;  // [out, in]
    at::Tensor bias;    // [out]
  };
  struct Norm {
    at::Tensor weight;
    at::Tensor bias;
  };
  struct Layer {
    // Query, key and value side by side, [3 D, D].
    Dense attention_in;
    Dense attention_out;
    Norm attention_norm;
    Dense feed_in;
    Dense feed_out;
    Norm feed_norm;
  };

  at::Tensor Normed(const Norm& norm, const at::Tensor& x) const;
  // Rounds `x` to what `dense` computes in, which the result has, too.
  at::Tensor Apply(const Dense& dense, const at::Tensor& x) const;

  const BertConfig config_;
  const at::ScalarType compute_;
  at::Tensor words_;
  // The embedding of each position, and of the first sentence type, added up.
  at::Tensor positions_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace shoal::language
