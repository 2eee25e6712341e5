// SPDX-License-Identifier: Apache-2.0
// A policy that reads the groups of one graph as a sequence and answers with a sequence of devices
// (Mirhoseini et al., "Device placement optimization with reinforcement learning", ICML 2017).
//
// An LSTM encodes the groups one after the other: embeddings of their operations' types, their
// sizes, and an embedding of their adjacency. A second LSTM decodes: for each group it reads the
// device of the group before it, by an embedding that is learned, and attends over all states of
// the encoder by inner products (Luong, Pham and Manning, EMNLP 2015). A softmax over devices
// follows, whose logits are held within -5 .. 5 by a hyperbolic tangent (Bello et al., 2016).
// Beyond the paper, the decoder also reads the encoder's state of the group itself, so attention
// need not learn to count.
//
// All numbers are drawn from one generator of its own, so the same seed gives the same draws with
// the same number of threads. Methods throw what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placer/group_features.h"

namespace shoal::placer {

// B placements of G groups, by position.
struct DrawnPlacements {
  at::Tensor devices;          // [B, G] of integers
  at::Tensor log_probability;  // [B], with gradients
  at::Tensor entropy;          // [B], the mean over groups, with gradients
};

class SequencePolicy {
 public:
  // REQUIRES: there is a group, devices >= 1, hidden >= 1.
  SequencePolicy(const GroupFeatures& features, std::size_t devices, std::int64_t hidden,
                 std::uint64_t seed);

  // REQUIRES: count >= 1.
  DrawnPlacements Draw(std::int64_t count);

  // What is learned; leaves of the gradients.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 private:
  at::Tensor Learned(at::IntArrayRef sizes);
  // The encoder's states, [G, hidden].
  at::Tensor Encode() const;

  const std::int64_t hidden_;
  at::Generator generator_;
  at::Tensor kind_shares_;  // [G, kinds]
  at::Tensor sizes_;        // [G, kSizes]
  at::Tensor adjacency_;    // [G, 2 G]
  std::vector<at::Tensor> parameters_;

  at::Tensor kind_embedding_;        // [kinds, hidden]
  at::Tensor adjacency_embedding_;   // [2 G, hidden]
  std::vector<at::Tensor> encoder_;  // an LSTM's, as at::lstm takes them
  at::Tensor device_gates_;          // [devices + 1, 4 hidden]; the last is for the first group
  at::Tensor group_gates_;           // [hidden, 4 hidden]
  at::Tensor state_gates_;           // [hidden, 4 hidden]
  at::Tensor gate_bias_;             // [4 hidden]
  at::Tensor query_;                 // [hidden, hidden]
  at::Tensor mix_;                   // [2 hidden, hidden]
  at::Tensor head_;                  // [hidden, devices]
};

}  // namespace shoal::placer
