// SPDX-License-Identifier: Apache-2.0
// Computes the residual convolution of IMPALA (convolution.h) in bfloat16, without gradients.
//
// The first layers have few channels, for which a GPU's matrix units have no use. So frames, and
// maps of up to kBlockedChannels channels with even sides, are blocked (frame_kernels.h): a filter
// of 3 x 3 over C channels becomes one of 3 x 3 over 4 C channels that makes four places at once.
// Most of its weights are 0, and the GPU still computes it several times faster. Each layer's
// result is rounded to 8 significant bits; products are added up in float32.
//
// This header shows torch and is for this folder only. Methods throw what torch throws.
// Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "rl/model/convolution.h"
#include "rl/model/frame_kernels.h"

namespace shoal::model {

class BlockedConvolution {
 public:
  static constexpr std::int64_t kBlockedChannels = 16;

  // Copies weights and biases of the layers from `parameters`, by their names. REQUIRES:
  // `convolution` is residual.
  BlockedConvolution(const Convolution& convolution,
                     const std::map<std::string, at::Tensor>& parameters);

  // Takes the bytes of frames [R, height * width * channels]. Returns what the convolution makes of
  // them as shares of 255, flattened channel by channel: [R, convolution.out.size()], float32.
  at::Tensor Of(const at::Tensor& frames) const;

 private:
  struct Filters {
    // bfloat16; those of a blocked map see and make blocked ones.
    at::Tensor weight;
    at::Tensor bias;  // float32
  };

  // Whether the map that the layer sees is blocked.
  bool SeesBlocked(std::size_t layer) const;
  // Returns what the layer makes of a map, without its bias.
  FrameMap Convolve(std::size_t layer, const FrameMap& map) const;

  const Convolution convolution_;
  std::vector<Filters> filters_;
};

}  // namespace shoal::model
