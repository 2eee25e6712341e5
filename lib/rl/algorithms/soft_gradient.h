// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of soft actor-critic by autograd: of the two critics, of the policy, and
// of the temperature.
//
// With a box, an expectation over the policy is one sampled action, through which the policy's loss
// is differentiated. With discrete actions it is the sum over the legal ones. Gradients stay where
// they belong: targets and the critics are constants to the policy's loss, the policy is a constant
// to the temperature's, and the temperature to all others. This header shows torch and is for this
// folder only. Throws what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

// Flat arrays of floats, of which the networks are views.
struct SoftParameters {
  at::Tensor trained;   // [total]
  at::Tensor target;    // [total]; of these the critics alone are used
  at::Tensor gradient;  // [trainable]
};

// What the policy and the target critics say of all rows of a batch, as in SoftView.
struct SoftRowsOfBatch {
  std::vector<float> value;          // [T+1, B]
  std::vector<float> entropy_bonus;  // [T+1, B]
};

class SoftGradient {
 public:
  SoftGradient(const model::PolicySpec& spec, const model::ParameterLayout& layout,
               const SoftParameters& parameters, double target_entropy, model::Precision precision);

  // Evaluates all `rows` of the batch without gradients. `noise` [rows, n] is standard normal, and
  // undefined without a box.
  SoftRowsOfBatch Evaluate(const BatchTensors& tensors, std::int64_t rows, const at::Tensor& noise);

  // Adds the gradient of the SUM of the weighted losses of `items`, which are rows (t * B + b), and
  // writes the absolute errors of these rows, means over both critics. `noise` is [items, n].
  // The sums' policy loss is the policy's, their value loss is the critics' and the metrics are the
  // action value, the absolute error and the temperature.
  MinibatchSums Add(const UpdateData& data, const IndexList& items, const at::Tensor& noise,
                    std::span<float> absolute_error);

 private:
  // Returns what `layers` makes, as float32.
  template <typename Layers>
  at::Tensor Computed(const Layers& layers) const;
  // An action and its negative log-density with a box: [R, n] and [R]. Otherwise the probabilities
  // of all actions, [R, n], and their entropy.
  struct Distribution {
    at::Tensor action;
    at::Tensor probability;
    at::Tensor entropy;
  };

  Distribution Act(const at::Tensor& features, const at::Tensor& illegal,
                   const at::Tensor& noise) const;
  // Returns the target of each row's entropy, [R]. With `illegal` ([R, actions]) it is the share of
  // what the row's legal actions allow; `like` has the shape of the result.
  at::Tensor TargetEntropy(const at::Tensor& illegal, const at::Tensor& like) const;
  // Returns the expectation of the lesser critic of `network` under the distribution, [R].
  at::Tensor ExpectedValue(const model::Network& network, const at::Tensor& features,
                           const Distribution& distribution) const;

  const model::PolicySpec spec_;
  const model::Network network_;
  // The same parameters as constants.
  const model::Network constant_;
  const model::Network target_;
  const double target_entropy_;
  const at::Device device_;
  // Of the layers.
  const model::Precision precision_;
};

}  // namespace shoal::algorithms
