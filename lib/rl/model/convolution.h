// SPDX-License-Identifier: Apache-2.0
// The layers of a convolution over frames of pixels, by policy.convolution, and what fits them.
//
// Every convolution has a bias, and its weights are stored as a matrix [channels that it makes,
// channels that it reads * filter * filter], in the order of torch's conv2d. Rows outside of the
// frame count as 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

// Numbers of a frame or of what a layer makes of it.
struct FrameShape {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  std::int64_t size() const { return height * width * channels; }
  friend bool operator==(const FrameShape&, const FrameShape&) = default;
};

struct ConvolutionLayer {
  // Of its parameters, which are <name>.weight and <name>.bias.
  std::string name;
  FrameShape in;
  FrameShape out;
  // The side of the square filter, by how much it moves, and the rows and columns of zeros at each
  // edge.
  std::int64_t filter = 0;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

struct Convolution {
  // What computes: a ReLU after each layer, or the residual network below.
  bool residual = false;
  // In the order in which they compute. A residual network has kResidualLayers for each section.
  std::vector<ConvolutionLayer> layers;
  // What torso and critic see of the frame, flattened channel by channel.
  FrameShape out;
};

// The sections of the residual network are each a convolution, a pool that keeps the greatest
// number of 3 x 3 at every second place, with a padding of 1, and two blocks. A block adds to its
// input what ReLU, convolution, ReLU, convolution make of it. A last ReLU follows all sections.
inline constexpr std::size_t kResidualLayers = 5;

// Returns the convolution of a spec:
//   "nature": 32 filters of 8 x 8 with stride 4, 64 of 4 x 4 with stride 2, 64 of 3 x 3 (Mnih et
//     al. 2015, "Human-level control through deep reinforcement learning", Methods).
//   "small": 16 filters of 8 x 8 with stride 4, 32 of 4 x 4 with stride 2 (Mnih et al. 2013,
//     "Playing Atari with deep reinforcement learning", section 4.1): a third of the arithmetic.
//   "impala": three sections of 16, 32 and 32 channels (Espeholt et al. 2018, "IMPALA", figure 3,
//     right).
// Returns INVALID_ARGUMENT naming the knob: for another name, a frame_shape that is no frame, and a
// frame that is smaller than a filter.
absl::StatusOr<Convolution> ConvolutionOf(const PolicySpec& spec);

}  // namespace shoal::model
