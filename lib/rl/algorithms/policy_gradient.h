// SPDX-License-Identifier: Apache-2.0
// Computes the gradient of an algorithm's loss: torso, core and critic by autograd, the head by
// hand on a CPU and by autograd elsewhere. It serves the algorithms that improve a policy and those
// that improve action values.
//
// The head's logits are a product with a constant matrix of up to 10^4 candidates. On a CPU its
// gradient is computed chunk by chunk (candidate_head.h), so no memory of that size outlives its
// chunk. This header shows torch and is for this folder only. Throws what torch throws. Not
// thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/batched_head.h"
#include "rl/algorithms/candidate_head.h"
#include "rl/algorithms/chosen_head.h"
#include "rl/algorithms/head_loss.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/compute_device.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

// Weighted sums over the rows of a minibatch.
struct MinibatchSums {
  static constexpr std::size_t kCount = 9 + Algorithm::kMaximumMetrics;
  // Weight, policy loss (with action values their loss), value loss, entropy, KL, importance
  // weights, their squares, weight of current rows, drift, then the algorithm's metrics.
  std::array<double, kCount> values{};

  void Add(const MinibatchSums& other) {
    for (std::size_t i = 0; i < kCount; ++i) values[i] += other.values[i];
  }

  double& weight() { return values[0]; }
  double& policy_loss() { return values[1]; }
  double& value_loss() { return values[2]; }
  double& entropy() { return values[3]; }
  // The KL of behaviour policy and current policy: (r - 1) - log r with the importance weight r.
  double& kl() { return values[4]; }
  // The importance weights, and their squares.
  double& importance() { return values[5]; }
  double& importance_squares() { return values[6]; }
  // The weight of the rows that acted by the parameters that the update began with, and the
  // absolute differences between their log-probabilities then and now.
  double& current_weight() { return values[7]; }
  double& drift() { return values[8]; }
  double& metric(std::size_t i) { return values[9 + i]; }

  // (sum w)^2 / (n sum w^2) of the importance weights w of n rows, or 0 without rows.
  double EffectiveSampleSize() {
    const double rows = weight() * importance_squares();
    return rows > 0 ? importance() * importance() / rows : 0;
  }
};

// The inputs of an update.
struct UpdateData {
  const UnrollBatch& batch;
  const BatchTensors& tensors;
  const TargetTensors& targets;
  const Algorithm& algorithm;
  LossWeights weights = {};
};

// The current policy's evaluation of a batch.
struct CurrentPolicy {
  std::vector<float> log_probability;  // [T, B], 0 for rows without weight
  std::vector<float> value;            // [T+1, B]

  PolicyView view() const { return {.log_probability = log_probability, .value = value}; }
};

// What a network with action values says of all rows of a batch.
struct ActionValueRowsOfBatch {
  std::vector<std::int64_t> greedy_action;  // [T+1, B]; empty where actions were given
  std::vector<float> value;                 // [T+1, B]
};

// How the head of a PolicyGradient computes.
enum class HeadArithmetic {
  // Row by row (candidate_head.h), on a CPU.
  kRows,
  // Whole batches (batched_head.h), on any device.
  kBatches,
};

class PolicyGradient {
 public:
  // Parameters are views of `flat`; gradients are added into `gradient` [layout.trainable]. When
  // `gradient` is undefined, only the functions without gradients may be called. Both lie on the
  // device that computes, and so must the tensors that the functions get. `precision` is that of
  // the layers, whose outputs are float32 again; the core's state, the logits of candidates and the
  // losses are float32 throughout.
  PolicyGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                 const at::Tensor& flat, const at::Tensor& gradient, HeadArithmetic arithmetic,
                 model::Precision precision = model::Precision::kFloat32);

  // Adds the gradient of the SUM of the rows' weighted losses. `items` are rows (t * B + b) without
  // a core, columns with a core.
  // With action values, `absolute_error` [T * B] receives the absolute errors of the rows of
  // `items`; otherwise it is left alone and may be empty.
  MinibatchSums Add(const UpdateData& data, const IndexList& items,
                    std::span<float> absolute_error);

  // Evaluates the parameters on all rows of the batch, without gradients.
  CurrentPolicy Evaluate(const UnrollBatch& batch, const BatchTensors& tensors);

  // Evaluates action values on all rows of the batch, bootstrap rows included, without gradients:
  // of `actions` [T+1, B], or where that is empty of the greedy actions. Rows without a catalog get
  // 0. REQUIRES: the spec has action_values, and `tensors` were made for all rows.
  ActionValueRowsOfBatch EvaluateActionValues(const UnrollBatch& batch, const BatchTensors& tensors,
                                              std::span<const std::int64_t> actions);

  // Evaluates quantiles of the return of `actions` [T+1, B] in all rows of the batch, without
  // gradients, at M fractions for each row [T+1, B, M]. Returns [T+1, B, M]; rows without a catalog
  // get 0. REQUIRES: the spec has quantile_cosines, M is at least 1, and `tensors` were made for
  // all rows.
  std::vector<float> EvaluateQuantiles(const UnrollBatch& batch, const BatchTensors& tensors,
                                       std::span<const std::int64_t> actions,
                                       std::span<const float> fractions);

 private:
  // With quantiles at N fractions, each row is N rows of the head, one after the other: R is then N
  // times the number of rows, except in `value`.
  struct Forward {
    std::vector<std::int64_t> rows;  // [R], t * B + b
    at::Tensor index;                // the same on the device
    at::Tensor head;                 // [R, P] or [R, n]
    at::Tensor mark_weights;         // [R, K]; undefined when K is 0
    at::Tensor value;                // [R]
    at::Tensor fraction;             // [R]; undefined without quantiles
    std::int64_t heads_per_row = 1;  // N
  };

  // `steps` is the number of rows of a column that a core goes through. `fraction` [rows, N] has
  // the fractions of the batch's rows; where it is undefined, the head is evaluated once a row.
  Forward Run(const UnrollBatch& batch, const BatchTensors& tensors, const IndexList& items,
              std::int64_t steps, const at::Tensor& fraction) const;
  at::Tensor Unroll(const BatchTensors& tensors, const at::Tensor& columns, std::int64_t steps,
                    const at::Tensor& torso) const;
  // Returns HeadRows::positions on the device.
  at::Tensor PositionsOf(const HeadRows& head) const;
  // Forward pass over every row of the batch, in ascending order.
  Forward RunAll(const UnrollBatch& batch, const BatchTensors& tensors,
                 const at::Tensor& fraction) const;
  // Returns the derivatives by the head's output, and by the weights of marks where there are any.
  // `actions` [R] has an action of each row.
  CandidateHead::Rows HeadGradient(const UnrollBatch& batch, const BatchTensors& tensors,
                                   const Forward& forward, std::span<const std::int64_t> actions,
                                   HeadOutput output, const HeadLoss& loss);
  // Calls `loss` for all rows of the forward pass. Returns what autograd starts from, and the
  // derivatives by it; both are empty where the loss asks for none.
  BatchedHead::Derivatives HeadDerivativesOf(const UnrollBatch& batch, const BatchTensors& tensors,
                                             const Forward& forward, const IndexList& actions,
                                             HeadOutput output, const HeadLoss& loss);
  at::Tensor DiscreteGradient(const BatchTensors& tensors, const Forward& forward,
                              std::span<const std::int64_t> actions, HeadOutput output,
                              const HeadLoss& loss) const;
  // The losses add their sums over rows to `totals`, one tensor of doubles a call, which stay on
  // the device until the minibatch has been computed.
  using Totals = std::vector<at::Tensor>;
  // Writes the derivatives by the critic's values into `by_value`, and the errors into `error`;
  // both are [R], double.
  HeadDerivatives WeightedActionValueLoss(const UpdateData& data, const Forward& forward,
                                          const HeadRows& head, at::Tensor& by_value,
                                          at::Tensor& error, Totals& totals) const;
  HeadDerivatives WeightedLoss(const UpdateData& data, const Forward& forward, const HeadRows& head,
                               Totals& totals) const;
  at::Tensor ValueGradient(const UpdateData& data, const Forward& forward, Totals& totals) const;
  // A dueling head takes the mean of all numbers from that of a row's action.
  HeadOutput ValuesNeeded() const {
    return spec_.dueling ? HeadOutput::kActionValues : HeadOutput::kChosenValues;
  }

  const model::PolicySpec spec_;
  const at::Device device_;
  const HeadArithmetic arithmetic_;
  const model::Precision precision_;
  const model::Network network_;
  CandidateHead candidates_;
  BatchedHead batched_;
  ChosenHead chosen_;
};

}  // namespace shoal::algorithms
