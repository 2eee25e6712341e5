// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of two networks of action values by autograd: one learns what the task
// rewards, the other what is new (Badia et al. 2020, "Agent57", section 3.1).
//
// Each has a loss of its own on the same rows, with the same target policy, which prefers the
// greatest mixed value. No gradient crosses from one to the other. This header shows torch and is
// for this folder only. Throws what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

// What both networks say of an action of each row of a batch, [T+1, B] each.
struct SplitValuesOfBatch {
  std::vector<float> extrinsic;
  std::vector<float> intrinsic;
};

class SplitValueGradient {
 public:
  // Parameters are views of `flat` [total]; gradients are added into `gradient` [trainable]. Where
  // that is undefined, Add may not be called.
  SplitValueGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
                     const at::Tensor& flat, const at::Tensor& gradient,
                     model::Precision precision);

  // Returns the legal action with the greatest mixed value of each of the `rows` of a batch, the
  // lowest among equals, without gradients.
  std::vector<std::int64_t> PreferredActions(const BatchTensors& tensors, std::int64_t rows) const;
  // Returns the values of `actions` [rows], without gradients.
  SplitValuesOfBatch Evaluate(const BatchTensors& tensors,
                              std::span<const std::int64_t> actions) const;

  // Adds the gradient of the SUM of the weighted losses of `items`, which are rows (t * B + b). The
  // absolute error of a row is the sum of both networks', whichever policy acted. The sums' policy
  // loss is that of the extrinsic values and their value loss that of the intrinsic ones. The
  // algorithm's metrics are of the extrinsic values.
  MinibatchSums Add(const UpdateData& data, const IndexList& items,
                    std::span<float> absolute_error);

 private:
  // What both networks say of rows, [R, n] each, as float32.
  model::SplitValues Run(const model::NetworkInputs& inputs) const;

  const model::PolicySpec spec_;
  const model::Network network_;
  const at::Device device_;
  // Of the layers.
  const model::Precision precision_;
};

// Returns the intrinsic reward of each row's action, [T, B], as the observations of the rows after
// them tell (estimators/exploration_family.h); 0 where the action terminated its episode. REQUIRES:
// batch.Validate accepted the batch for a spec with split_values.
std::vector<float> IntrinsicRewards(const UnrollBatch& batch);

}  // namespace shoal::algorithms
