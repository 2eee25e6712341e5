// SPDX-License-Identifier: Apache-2.0
// The policy's layers over one flat array of parameters: what inference and training both run.
//
// Shows torch: for lib/rl/model and lib/rl/algorithms only. Methods throw what torch throws. Rows
// are R; gradients flow when the flat array was bound with gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

struct NetworkInputs {
  at::Tensor observation;            // [R, O]
  std::vector<at::Tensor> contents;  // F of [R, D]
  at::Tensor past_requests;          // [R, D]; undefined without that feature
};

class Network {
 public:
  // Parameters are views of `flat` [layout.total]. With `gradient` (the same shape) they are leaves
  // that add their gradients into views of it; undefined: no gradients.
  Network(const PolicySpec& spec, const ParameterLayout& layout, const at::Tensor& flat,
          const at::Tensor& gradient);

  // Everything that torso and critic see: [R, features].
  at::Tensor Features(const NetworkInputs& inputs) const;
  // [R, last of hidden].
  at::Tensor Torso(const at::Tensor& features) const;
  // The state after the row: [R, S].
  at::Tensor Core(const at::Tensor& torso, const at::Tensor& state) const;
  // Of the torso's output, or the core's where there is one. Candidates: queries, query_scale
  // included, [R, P]; discrete: logits [R, n].
  at::Tensor Head(const at::Tensor& input) const;
  // `core`: the state after the row; undefined without a core. [R].
  at::Tensor Value(const at::Tensor& features, const at::Tensor& core) const;

  // The projection of the candidates, [P, D].
  const at::Tensor& key() const { return parameters_.at("key"); }
  // Keys of a table's embeddings [N, D]: [N, P].
  at::Tensor Keys(const at::Tensor& embeddings) const;

 private:
  const at::Tensor& Parameter(const std::string& name) const { return parameters_.at(name); }
  at::Tensor Linear(const std::string& name, const at::Tensor& input) const;
  at::Tensor Stack(const std::string& name, std::size_t layers, at::Tensor input) const;

  const PolicySpec spec_;
  std::map<std::string, at::Tensor> parameters_;
};

}  // namespace shoal::model
