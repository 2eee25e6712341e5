// SPDX-License-Identifier: Apache-2.0
// The layers of a state encoder over one flat array of parameters, for inference and training
// alike: an auto-encoder of hidden states whose bottleneck is the latent.
//
//   hidden states [T, D] -> standardised -> convolutions of stride 2, GELU -> [T', C]
//   -> mean and maximum over T' -> a linear layer, scaled to length 1 -> latent [L]
//   latent -> transposed convolutions of stride 2 -> B means of the standardised states [D, B]
//
// This header shows torch and is for this folder. Methods throw what torch throws. S is the number
// of texts. States past a text's end are zero before each convolution, so the other texts of a
// batch change a latent only by rounding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "text/language/state_config.h"

namespace shoal::language {

// Texts of unequal lengths, padded with zeros to the longest.
struct PaddedStates {
  at::Tensor states;   // [S, D, T]
  at::Tensor lengths;  // [S], int64, each at least 1
};

class StateNetwork {
 public:
  // `flat` is in the order of `layout`, which is PoolingLayout(config), or StateLayout(config) for
  // Decode. With `gradient` (the same shape) the learned parameters are leaves that add their
  // gradients into views of it.
  StateNetwork(const StateConfig& config, const model::ParameterLayout& layout,
               const at::Tensor& flat, const at::Tensor& gradient);

  // Maps [T, D] to the same, with mean 0 and deviation 1 over the texts that training measured.
  at::Tensor Standardised(const at::Tensor& hidden) const;
  // Takes standardised states. Returns latents of length 1, [S, L].
  at::Tensor Latents(const PaddedStates& padded) const;
  // Returns [S, D, B]. REQUIRES: the layout has the decoder.
  at::Tensor Decode(const at::Tensor& latents) const;

 private:
  const at::Tensor& Parameter(const std::string& name) const { return parameters_.at(name); }

  const StateConfig config_;
  std::map<std::string, at::Tensor> parameters_;
};

// Pads the texts `texts` of `states` [T, D], whose rows `starts` gives. REQUIRES: none is empty.
PaddedStates Padded(const at::Tensor& states, const std::vector<std::int64_t>& starts,
                    const std::vector<std::int64_t>& texts);

// Returns the means over `bins` parts of each text, [S, D, bins].
at::Tensor Binned(const PaddedStates& padded, std::int64_t bins);

}  // namespace shoal::language
