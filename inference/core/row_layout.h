// SPDX-License-Identifier: Apache-2.0
// The layout of a row's bytes: what the environment specification says, with all sizes computed.
//
// Immutable. The blocks of one stream and the unrolls made of them share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/tensor.h"

namespace shoal::inference {

// A named part of a row, without the batch dimension.
struct RowColumn {
  std::string name;
  runtime::DType dtype = runtime::DType::kFloat32;
  runtime::Shape shape;
  // The product of `shape`, and the bytes of that many elements.
  std::size_t elements = 0;
  std::size_t bytes = 0;

  friend bool operator==(const RowColumn&, const RowColumn&) = default;
};

struct RowLayout {
  // A row's observation is the concatenation of these, each in its own dtype.
  std::vector<RowColumn> observations;
  std::vector<std::string> content_fields;
  std::vector<RowColumn> extras;
  // O, the number of elements of all observations, and their bytes.
  std::size_t observation_size = 0;
  std::size_t observation_bytes = 0;
  // The ends of the box of actions, [n] each; empty for other kinds of actions.
  std::vector<float> action_low;
  std::vector<float> action_high;
  // The bytes of all extras.
  std::size_t extras_bytes = 0;

  friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

// What the core must know of the policy network. The service fills it in from [policy].
struct PolicyShape {
  // Tells the policies apart where several are trained side by side.
  std::uint32_t policy_id = 0;
  bool candidates = false;
  // Whether training rows act epsilon-greedily on action values.
  bool action_values = false;
  // Whether actions are points of a box.
  bool box = false;
  // n: the number of discrete actions, or the dimension of a box.
  std::size_t action_count = 0;
  // O.
  std::size_t observation_size = 0;
  // Whether an observation is a frame of bytes, which the policy sees through a convolution.
  bool frames = false;
  // F.
  std::size_t content_count = 0;
  // D.
  std::size_t embedding_size = 0;
  // S, or 0 without a recurrent core.
  std::size_t core_state_size = 0;
  bool past_requests = false;
  // K, or 0 without marks on candidates.
  std::int64_t candidate_marks = 0;
  // Positions among the content fields, or -1 when absent.
  std::int64_t similarity_index = -1;
  std::int64_t request_index = -1;
};

}  // namespace shoal::inference
