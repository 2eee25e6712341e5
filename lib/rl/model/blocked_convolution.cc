// SPDX-License-Identifier: Apache-2.0
#include "rl/model/blocked_convolution.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace shoal::model {
namespace {

constexpr std::int64_t kSide = 3;

// Returns the filters [4 K, 4 C, 3, 3] that make of a blocked map the blocked map of what `weight`
// [K, C, 3, 3] makes. Place (a, b) of a square sees place (i, j) of the square that is (y, x)
// squares further by the tap (2 y + i - a, 2 x + j - b), if that is within the filter.
at::Tensor Blocked(const at::Tensor& weight) {
  const std::int64_t filters = weight.size(0);
  const std::int64_t channels = weight.size(1);
  at::Tensor out = at::zeros({2, 2, filters, 2, 2, channels, kSide, kSide}, weight.options());
  const auto each = [](const auto& body) {
    for (std::int64_t to = 0; to < 2; ++to) {
      for (std::int64_t from = 0; from < 2; ++from) {
        for (std::int64_t square = -1; square <= 1; ++square) {
          const std::int64_t tap = 2 * square + from - to;
          if (tap >= -1 && tap <= 1) body(to, from, square + 1, tap + 1);
        }
      }
    }
  };
  each([&](std::int64_t a, std::int64_t i, std::int64_t y, std::int64_t row) {
    each([&](std::int64_t b, std::int64_t j, std::int64_t x, std::int64_t column) {
      out.select(0, a).select(0, b).select(1, i).select(1, j).select(2, y).select(2, x).copy_(
          weight.select(2, row).select(2, column));
    });
  });
  return out.view({4 * filters, 4 * channels, kSide, kSide});
}

bool Even(const FrameShape& shape) { return shape.height % 2 == 0 && shape.width % 2 == 0; }

}  // namespace

BlockedConvolution::BlockedConvolution(const Convolution& convolution,
                                       const std::map<std::string, at::Tensor>& parameters)
    : convolution_(convolution) {
  for (std::size_t i = 0; i < convolution_.layers.size(); ++i) {
    const ConvolutionLayer& layer = convolution_.layers[i];
    at::Tensor weight = parameters.at(layer.name + ".weight")
                            .view({layer.out.channels, layer.in.channels, kSide, kSide});
    if (i == 0) {
      weight = at::constant_pad_nd(weight, {0, 0, 0, 0, 0, layer.in.channels % 2}).div(255);
    }
    if (SeesBlocked(i)) weight = Blocked(weight);
    filters_.push_back(
        {.weight = weight.to(at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast),
         .bias = parameters.at(layer.name + ".bias").clone()});
  }
}

bool BlockedConvolution::SeesBlocked(std::size_t layer) const {
  const FrameShape& shape = convolution_.layers[layer].in;
  return layer == 0 || (shape.channels <= kBlockedChannels && Even(shape));
}

FrameMap BlockedConvolution::Convolve(std::size_t layer, const FrameMap& map) const {
  const at::Tensor made = at::conv2d(map.numbers, filters_[layer].weight, /*bias=*/{}, /*stride=*/1,
                                     /*padding=*/1);
  return {.numbers = made.contiguous(at::MemoryFormat::ChannelsLast),
          .shape = convolution_.layers[layer].out,
          .blocked = map.blocked};
}

at::Tensor BlockedConvolution::Of(const at::Tensor& frames) const {
  FrameMap seen = Widened(frames, convolution_.layers.front().in);
  at::Tensor out;
  for (std::size_t i = 0; i < convolution_.layers.size(); i += kResidualLayers) {
    Rectified maps = Pooled(Convolve(i, seen), filters_[i].bias, SeesBlocked(i + 1));
    for (const std::size_t block : {i + 1, i + 3}) {
      const FrameMap inner = Convolve(block, maps.rectified);
      Rectify(inner, filters_[block].bias);
      maps.rectified = Convolve(block + 1, inner);
      AddAndRectify(maps.sum, maps.rectified, filters_[block + 1].bias);
    }
    seen = maps.sum;
    out = maps.rectified.numbers;
  }
  // More than kBlockedChannels channels, and so not blocked.
  return out
      .to(out.options().dtype(at::kFloat), /*non_blocking=*/false, /*copy=*/false,
          at::MemoryFormat::Contiguous)
      .flatten(1);
}

}  // namespace shoal::model
