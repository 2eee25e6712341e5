// SPDX-License-Identifier: Apache-2.0
// The settings of the search whose policy reads groups as a sequence and answers with one of
// devices (placer/sequence_search.h), for whoever checks or shows them without libtorch.
//
// A value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/graph.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::placement {

// The most groups of a graph that the policy reads: what it learns from grows with their square.
inline constexpr std::size_t kMostSequenceGroups = 1000;

struct SequenceRule {
  std::int64_t gradient_every = 20;
  double learning_rate = 0.003;
  // The numbers of a state of the encoder and of the decoder.
  std::int64_t hidden = 64;
  // The weight of the policy's entropy beside the reward, for each group. 0 leaves it out.
  double entropy = 0.01;

  void Visit(runtime::Visitor& visitor);
};

// INVALID_ARGUMENT, naming the limit, for a graph of more than kMostSequenceGroups groups, and
// where the placements between two updates, or the kinds of operations, would take gigabytes.
absl::Status CheckSequence(const SequenceRule& rule, const Graph& graph);

}  // namespace shoal::placement
