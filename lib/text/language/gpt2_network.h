// SPDX-License-Identifier: Apache-2.0
// GPT-2's layers over arrays of parameters, for inference and training alike.
//
// This header shows torch and is for this folder and the trainer. Methods throw what torch throws.
// T is the number of tokens, D the width, V the vocabulary. Gradients flow when the network was
// given a gradient array. The residual, norms and outputs are float32; the matrices of blocks and
// attention compute in `compute`.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/language/gpt2_config.h"
#include "text/language/key_values.h"
#include "text/language/lora.h"
#include "text/language/packed_attention.h"
#include "text/language/tensor_parallel.h"

namespace shoal::language {

struct NetworkOptions {
  // kFloat or kBFloat16. Parameters and their gradients stay float32 in both cases; with kBFloat16
  // a network that trains also holds the blocks' parameters and gradients rounded.
  at::ScalarType compute = at::kFloat;
  // Keep only each block's input for the backward pass and run the block again there. This needs
  // the memory of one block instead of all, for a third more time (Chen et al., "Training Deep Nets
  // with Sublinear Memory Cost", 2016).
  bool checkpoint = false;
  // The parameters and gradients of a unit (Gpt2Units) have memory only while the unit is used
  // (rl/training/tensor_memory.h), and what is rounded of a block only from Hold to Drop.
  bool by_unit = false;
  // With more than one tensor-parallel rank, parameters are those of this rank (tensor_shards.h),
  // and each half of a block sums its output over the ranks, and the gradient of its input: two
  // sums in a block's forward pass and two in its backward pass. No adapter then, and no KeyValues.
  std::int64_t tensor_ranks = 1;
  TensorSum tensor_sum = {};
};

class Gpt2Network {
 public:
  // `flat` is in the order of Gpt2Layout(config, options.tensor_ranks), on the device to compute
  // on; parameters are views of it. With `gradient` (the same shape) they are leaves that add their
  // gradients into views of it. When `gradient` is undefined, there are no gradients. REQUIRES:
  // config is valid.
  Gpt2Network(const Gpt2Config& config, const at::Tensor& flat, const at::Tensor& gradient,
              const NetworkOptions& options);
  // The same for an array of each unit. Without gradients `gradients` is empty. REQUIRES: the
  // arrays have the sizes of Gpt2Units(config, options.tensor_ranks).
  Gpt2Network(const Gpt2Config& config, const std::vector<at::Tensor>& parameters,
              const std::vector<at::Tensor>& gradients, const NetworkOptions& options);

  // Rounds the blocks' parameters to `compute` again; call it after parameters have changed.
  void Refresh();
  // Adds the rounded gradients of backward passes since the last call to the gradient array; call
  // it after each backward pass, since rounded sums lose digits. Both do nothing where nothing is
  // rounded for training.
  void CollectGradients();
  // The same for one block. With NetworkOptions::by_unit a block runs only between Hold, which
  // refreshes it, and Drop.
  void Hold(std::int64_t block);
  void CollectGradients(std::int64_t block);
  void Drop(std::int64_t block);
  // Of each unit, the tensors through which backward passes bring its gradients: none of the
  // embeddings, whose gradients are complete after a pass (AddEmbeddingGradient). What comes
  // rounded still has to be collected. REQUIRES: trains().
  std::vector<std::vector<at::Tensor>> UnitLeaves() const;

  // Adds an adapter in the order of LoraLayout(config, adapter); the arrays are as above.
  void Adapt(const LoraOptions& adapter, const at::Tensor& flat, const at::Tensor& gradient);

  // Returns the states [T, D] after `layer` blocks: 0 means the embeddings, config.layers the last
  // block, normed. This is hidden_states[layer] of transformers.
  at::Tensor Hidden(const PackedTokens& tokens, std::int64_t layer) const;
  // The steps of Hidden: the embeddings [T, D], one block, the last norm.
  at::Tensor Embed(const PackedTokens& tokens) const;
  at::Tensor RunBlock(std::int64_t block, const at::Tensor& x, const PackedTokens& tokens) const;
  at::Tensor LastNormed(const at::Tensor& x) const;
  // All blocks and the last norm.
  at::Tensor RunBlocks(const at::Tensor& x, const PackedTokens& tokens) const;
  // Adds to the gradients of both embeddings what `gradient` [T, D], of what Embed returned, makes
  // of them. REQUIRES: trains(); ids and positions [T], int64.
  void AddEmbeddingGradient(const at::Tensor& ids, const at::Tensor& positions,
                            const at::Tensor& gradient);
  // Returns the last layer's states [n, D] of new tokens of the sequence in `past`, which stores
  // their keys and values. REQUIRES: no gradients; `tokens` has one sequence, whose positions
  // continue those of `past`.
  at::Tensor Continue(const PackedTokens& tokens, KeyValues& past) const;
  // Maps [..., D] to [..., V].
  at::Tensor Logits(const at::Tensor& hidden) const;

  // The token embedding, which is also the output layer, [V, D].
  const at::Tensor& embedding() const { return embedding_; }
  const Gpt2Config& config() const { return config_; }
  // Whether gradients flow into the model's own parameters.
  bool trains() const { return trains_; }

 private:
  struct Linear {
    at::Tensor weight;  // [in, out]
    at::Tensor bias;    // [out]
    at::Tensor a;       // [rank, in], undefined without an adapter
    at::Tensor b;       // [out, rank]
  };
  struct Norm {
    at::Tensor weight;
    at::Tensor bias;
  };
  // A block's parameters and gradients, and the same rounded.
  struct Rounded {
    at::Tensor parameters;
    at::Tensor gradient;
    at::Tensor rounded_parameters;
    at::Tensor rounded_gradient;
  };
  struct Block {
    Norm norm1;
    Linear attention_in;
    Linear attention_out;
    Norm norm2;
    Linear feed_in;
    Linear feed_out;
  };

  at::Tensor Normed(const Norm& norm, const at::Tensor& x) const;
  at::Tensor Apply(const Linear& linear, const at::Tensor& x) const;
  // The same for the layers that begin and end half a block, which tensor-parallel ranks divide by
  // columns and by rows.
  at::Tensor ApplyColumns(const Linear& linear, const at::Tensor& x) const;
  at::Tensor ApplyRows(const Linear& linear, const at::Tensor& x) const;
  // `past` may be null.
  at::Tensor Run(std::int64_t block, const at::Tensor& x, const PackedTokens& tokens,
                 KeyValues* past) const;
  at::Tensor RunCheckpointed(std::int64_t block, const at::Tensor& x,
                             const PackedTokens& tokens) const;
  // Returns all tensors that gradients flow into.
  std::vector<at::Tensor> Leaves(const Block& block) const;

  const Gpt2Config config_;
  const NetworkOptions options_;
  const bool trains_;
  // Of each block; empty where nothing is rounded for training.
  std::vector<Rounded> rounded_;
  double adapter_scale_ = 0;
  at::Tensor embedding_;
  at::Tensor positions_;
  std::vector<Block> blocks_;
  Norm last_norm_;
};

}  // namespace shoal::language
