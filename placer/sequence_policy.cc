// SPDX-License-Identifier: Apache-2.0
#include "placer/sequence_policy.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <span>

namespace shoal::placer {
namespace {

constexpr double kLargestLogit = 5;

at::Tensor Rows(std::span<const float> values, std::int64_t rows) {
  return at::from_blob(const_cast<float*>(values.data()),
                       {rows, static_cast<std::int64_t>(values.size()) / rows}, at::kFloat)
      .clone();
}

}  // namespace

SequencePolicy::SequencePolicy(const GroupFeatures& features, std::size_t devices,
                               std::int64_t hidden, std::uint64_t seed)
    : hidden_(hidden), generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  const auto groups = static_cast<std::int64_t>(features.order.size());
  const auto kinds = static_cast<std::int64_t>(features.kinds);
  const auto targets = static_cast<std::int64_t>(devices);
  kind_shares_ = Rows(features.kind_shares, groups);
  sizes_ = Rows(features.sizes, groups);
  adjacency_ = Rows(features.adjacency, groups);
  const std::int64_t inputs = 2 * hidden + static_cast<std::int64_t>(kSizes);
  kind_embedding_ = Learned({kinds, hidden});
  adjacency_embedding_ = Learned({2 * groups, hidden});
  encoder_ = {Learned({4 * hidden, inputs}), Learned({4 * hidden, hidden}), Learned({4 * hidden}),
              Learned({4 * hidden})};
  device_gates_ = Learned({targets + 1, 4 * hidden});
  group_gates_ = Learned({hidden, 4 * hidden});
  state_gates_ = Learned({hidden, 4 * hidden});
  gate_bias_ = Learned({4 * hidden});
  query_ = Learned({hidden, hidden});
  mix_ = Learned({2 * hidden, hidden});
  head_ = Learned({hidden, targets});
}

at::Tensor SequencePolicy::Learned(at::IntArrayRef sizes) {
  constexpr double kSpread = 0.1;
  at::Tensor values = at::empty(sizes, at::kFloat).uniform_(-kSpread, kSpread, generator_);
  parameters_.push_back(values.requires_grad_(true));
  return parameters_.back();
}

at::Tensor SequencePolicy::Encode() const {
  const at::Tensor inputs = at::cat(
      {kind_shares_.matmul(kind_embedding_), sizes_, adjacency_.matmul(adjacency_embedding_)}, 1);
  const at::Tensor zeros = at::zeros({1, 1, hidden_});
  const auto [states, last, cells] = at::lstm(inputs.unsqueeze(1), {zeros, zeros}, encoder_,
                                              /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0,
                                              /*train=*/true, /*bidirectional=*/false,
                                              /*batch_first=*/false);
  return states.squeeze(1);
}

DrawnPlacements SequencePolicy::Draw(std::int64_t count) {
  const at::Tensor encoded = Encode();                                       // [G, hidden]
  const at::Tensor group_gates = encoded.matmul(group_gates_) + gate_bias_;  // [G, 4 hidden]
  const std::int64_t groups = encoded.size(0);
  at::Tensor device = at::full({count}, device_gates_.size(0) - 1, at::kLong);
  at::Tensor state = at::zeros({count, hidden_});
  at::Tensor cell = at::zeros({count, hidden_});
  std::vector<at::Tensor> devices;
  std::vector<at::Tensor> log_probabilities;
  std::vector<at::Tensor> entropies;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::vector<at::Tensor> gates =
        (device_gates_.index_select(0, device) + group_gates[group] + state.matmul(state_gates_))
            .chunk(4, 1);
    cell = gates[0].sigmoid() * gates[2].tanh() + gates[1].sigmoid() * cell;
    state = gates[3].sigmoid() * cell.tanh();
    const at::Tensor attention = at::softmax(state.matmul(query_).matmul(encoded.t()), 1);
    const at::Tensor mixed = at::cat({state, attention.matmul(encoded)}, 1).matmul(mix_).tanh();
    const at::Tensor logits = (mixed.matmul(head_) / kLargestLogit).tanh() * kLargestLogit;
    const at::Tensor logs = at::log_softmax(logits, 1);  // [B, devices]
    const at::Tensor probabilities = logs.exp();
    device = probabilities.detach().multinomial(1, false, generator_).squeeze(1);
    devices.push_back(device);
    log_probabilities.push_back(logs.gather(1, device.unsqueeze(1)).squeeze(1));
    entropies.push_back(-(probabilities * logs).sum(1));
  }
  return {.devices = at::stack(devices, 1),
          .log_probability = at::stack(log_probabilities, 1).sum(1),
          .entropy = at::stack(entropies, 1).mean(1)};
}

}  // namespace shoal::placer
