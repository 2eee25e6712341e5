// SPDX-License-Identifier: Apache-2.0
// The gradient of one minibatch: torso, core and critic by autograd, the head by hand.
//
// The head's logits are a product with a constant matrix of up to 10^4 candidates; its gradient is
// computed chunk by chunk, table by table, and nothing of that size outlives its chunk. Shows
// torch: for this folder only. Throws what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rl/algorithms/advantages.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/categorical.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

// Sums over the rows of a minibatch, each times its weight.
struct MinibatchSums {
  static constexpr std::size_t kCount = 7;
  // Weight, policy loss, value loss, entropy, KL, clipped rows, rows whose action is the greedy
  // one (of demonstrations alone).
  std::array<double, kCount> values{};

  void Add(const MinibatchSums& other) {
    for (std::size_t i = 0; i < kCount; ++i) values[i] += other.values[i];
  }

  double& weight() { return values[0]; }
  double& policy_loss() { return values[1]; }
  double& value_loss() { return values[2]; }
  double& entropy() { return values[3]; }
  double& kl() { return values[4]; }
  double& clipped() { return values[5]; }
  double& agreed() { return values[6]; }
};

// What an update trains on; all [T, B] or wider, normalised advantages included.
struct UpdateData {
  const UnrollBatch& batch;
  const BatchTensors& tensors;
  const Advantages& advantages;
  // The rows' actions are an expert's, to be copied: their cross-entropy is the whole loss, of the
  // advantages the weights alone count, and the critic is left as it is.
  bool demonstrated = false;
};

class PolicyGradient {
 public:
  // Parameters are views of `flat`, gradients are added into `gradient` [layout.trainable].
  PolicyGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                 const AlgorithmOptions& options, const at::Tensor& flat,
                 const at::Tensor& gradient);

  // Without a core `items` are rows (t * B + b), with one they are columns. Adds the gradient of
  // the SUM of the rows' weighted losses.
  MinibatchSums Add(const UpdateData& data, std::span<const std::int64_t> items);

 private:
  struct Forward {
    std::vector<std::int64_t> rows;  // [R], t * B + b
    at::Tensor head;                 // [R, P] or [R, n]
    at::Tensor value;                // [R]
  };

  Forward Evaluate(const UpdateData& data, std::span<const std::int64_t> items) const;
  at::Tensor Unroll(const UpdateData& data, std::span<const std::int64_t> columns,
                    const at::Tensor& torso) const;
  at::Tensor DiscreteGradient(const UpdateData& data, const Forward& forward, MinibatchSums& sums);
  at::Tensor CandidateGradient(const UpdateData& data, const Forward& forward, MinibatchSums& sums);
  model::Blocks Keys(const model::Blocks& embeddings) const;
  void AddTable(const UpdateData& data, const Forward& forward, std::size_t table,
                std::span<const std::int64_t> positions, at::Tensor& by_query, MinibatchSums& sums);
  // One row's losses, and their derivatives.
  CategoricalDerivatives RowLoss(const UpdateData& data, std::size_t row, double log_probability,
                                 double entropy, MinibatchSums& sums) const;
  at::Tensor LogitGradient(const UpdateData& data, const Forward& forward,
                           std::span<const std::int64_t> positions, at::Tensor& logits,
                           MinibatchSums& sums) const;
  at::Tensor ValueGradient(const UpdateData& data, const Forward& forward,
                           MinibatchSums& sums) const;

  const model::PolicySpec spec_;
  const AlgorithmOptions options_;
  const model::Network network_;
  // View of the gradient of the candidates' projection; undefined when it is frozen.
  at::Tensor key_gradient_;
  // Of a frozen projection.
  model::KeyCache keys_;
};

}  // namespace shoal::algorithms
