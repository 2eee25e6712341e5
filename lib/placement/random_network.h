// SPDX-License-Identifier: Apache-2.0
// Random networks, to train on: one training step each, of the families that placement is about.
//
// A network is a chain of layers with shortcuts (as residual ones are), blocks of parallel branches
// (as Inception's), layers of recurrent cells over time with an output layer and perhaps an encoder
// before them (as language models and translation), or layers that read one or two of the four
// before them. Arithmetic, outputs and parameters are drawn log-normally around values of the
// network's own, so that sending an output takes from a hundredth of its computation to several
// times as long. Backward and update operations follow from the forward ones as those of the
// shipped graphs do. Pure functions of the draws.
#pragma once

#include <cstddef>

#include "placement/graph.h"
#include "platform/runtime/random.h"

namespace shoal::placement {

struct NetworkSize {
  // About the least and the most groups; a network ends with the block or layer that it is in.
  std::size_t least_groups = 6;
  std::size_t most_groups = 40;
};

// The groups that a network may have more than NetworkSize says.
inline constexpr std::size_t kMostGroupsBeyond = 24;

// REQUIRES: 1 <= size.least_groups <= size.most_groups.
Graph RandomNetwork(runtime::Random& random, const NetworkSize& size);

}  // namespace shoal::placement
