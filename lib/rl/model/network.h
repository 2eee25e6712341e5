// SPDX-License-Identifier: Apache-2.0
// The policy's layers over one flat array of parameters, for inference and training alike.
//
// This header shows torch, so only lib/rl/model and lib/rl/algorithms include it. Methods throw
// what torch throws. R is the number of rows. Gradients flow when the network was given a gradient
// array.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "rl/model/convolution.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

// K: the fractions (k + 1/2) / K, over which the quantiles of an action are averaged where it is
// valued as a whole. The paper draws 32 at random, which would make a choice depend on more than
// its row.
inline constexpr std::int64_t kMeanFractions = 32;

struct NetworkInputs {
  at::Tensor observation;            // [R, O]; bytes with a convolution
  at::Tensor convolved;              // what Convolved made of these bytes; undefined: not yet
  std::vector<at::Tensor> contents;  // F of [R, D]
  at::Tensor past_requests;          // [R, D]; undefined without that feature
  at::Tensor mark_counts;            // [R, K], by CountMarks; undefined when K is 0
};

// The action values of a network that splits them, [R, n] each.
struct SplitValues {
  at::Tensor extrinsic;
  at::Tensor intrinsic;
};

class Network {
 public:
  // Parameters are views of `flat` [layout.total]. With `gradient` (the same shape) they are leaves
  // that add their gradients into views of it. When `gradient` is undefined, there are no
  // gradients.
  Network(const PolicySpec& spec, const ParameterLayout& layout, const at::Tensor& flat,
          const at::Tensor& gradient);

  // Returns what the convolution makes of frames [R, O], flattened channel by channel.
  at::Tensor Convolved(const at::Tensor& frames) const;
  // Returns everything that torso and critic see: [R, features]. The convolution of frames is part
  // of it, computed for all rows at once.
  at::Tensor Features(const NetworkInputs& inputs) const;
  // Returns [R, last of hidden].
  at::Tensor Torso(const at::Tensor& features) const;
  // Returns the state after the row, [R, S], by the equations of torch's GRU cell or LSTM cell.
  at::Tensor Core(const at::Tensor& torso, const at::Tensor& state) const;
  // Returns the core's output, the part of its state [R, S] that head and critic see.
  at::Tensor CoreOutput(const at::Tensor& state) const;
  // Takes the torso's output, or the core's where there is one, [R, H], and a fraction in [0, 1) of
  // each row [R]. Returns what makes the head state the quantiles at these fractions: the input
  // times ReLU(W cos(pi i fraction) + b) for i from 0 (Dabney et al. 2018, equation 4), [R, H].
  // REQUIRES: the spec has quantile_cosines.
  at::Tensor AtFractions(const at::Tensor& input, const at::Tensor& fraction) const;
  // Takes the same input. Returns what makes the head state the mean of the quantiles at the
  // kMeanFractions fractions, for the head is linear. Without quantile_cosines it is the input.
  at::Tensor AtMean(const at::Tensor& input) const;
  // Takes the torso's output, the core's where there is one, or what the functions above make of
  // it. Returns queries [R, P], already multiplied by query_scale, for a head of candidates; logits
  // [R, n] for a discrete head; means and logarithms of deviations [R, 2n] for a box
  // (squashed_gaussian.h, gaussian.h).
  at::Tensor Head(const at::Tensor& input) const;
  // Takes the same input. Returns what each kind of mark adds to a candidate's logit, [R, K].
  // REQUIRES: the spec has candidate_marks.
  at::Tensor MarkWeights(const at::Tensor& input) const;
  // Takes the features and what the torso makes of them. Returns whole action values, those of a
  // dueling head included. REQUIRES: the spec has split_values.
  SplitValues Split(const at::Tensor& features, const at::Tensor& hidden) const;
  // Returns the numbers that are acted on in rows with these observations [R, O], [R, n].
  at::Tensor Mixed(const SplitValues& values, const at::Tensor& observation) const;
  // Returns what acting compares: Mixed with split_values, Head otherwise. `hidden` is what Head
  // takes for the inputs, and `features` what the torso takes.
  at::Tensor ActingHead(const NetworkInputs& inputs, const at::Tensor& features,
                        const at::Tensor& hidden) const;
  // Returns what a critic (0 or 1) says of each row: Q(s, a) of `action` [R, n] as [R, 1] with a
  // box; the values of all actions [R, n] otherwise, where `action` is undefined. REQUIRES: the
  // spec has twin_critics.
  at::Tensor Critic(int critic, const at::Tensor& features, const at::Tensor& action) const;
  // The logarithm of the temperature, [1]. REQUIRES: the spec has twin_critics.
  const at::Tensor& log_temperature() const { return parameters_.at("log_temperature"); }
  // `core` is the core's output, undefined without a core. Returns [R]. REQUIRES: the spec
  // has no twin_critics.
  at::Tensor Value(const at::Tensor& features, const at::Tensor& core) const;

  // The projection of the candidates, [P, D].
  const at::Tensor& key() const { return parameters_.at("key"); }
  const std::map<std::string, at::Tensor>& parameters() const { return parameters_; }
  // Returns the keys [N, P] of a table's embeddings [N, D].
  at::Tensor Keys(const at::Tensor& embeddings) const;

 private:
  const at::Tensor& Parameter(const std::string& name) const { return parameters_.at(name); }
  at::Tensor Linear(const std::string& name, const at::Tensor& input) const;
  at::Tensor Convolve(const ConvolutionLayer& layer, const at::Tensor& input) const;
  // Returns the embeddings of fractions [M] as [M, H].
  at::Tensor FractionEmbedding(const at::Tensor& fraction) const;
  at::Tensor Stack(const std::string& name, std::size_t layers, at::Tensor input) const;
  // Returns a dueling head's action values of advantages [R, n] and values [R].
  static at::Tensor Dueling(const at::Tensor& advantage, const at::Tensor& value);

  const PolicySpec spec_;
  // Without layers where the spec has no convolution.
  const Convolution convolution_;
  std::map<std::string, at::Tensor> parameters_;
};

}  // namespace shoal::model
