// SPDX-License-Identifier: Apache-2.0
#include "rl/model/convolution.h"

#include <utility>

namespace shoal::model {
namespace {

constexpr std::int64_t kMaxSide = 65536;

struct Filters {
  std::int64_t count = 0;
  std::int64_t side = 0;
  std::int64_t stride = 0;
};

std::int64_t SideAfter(std::int64_t side, const ConvolutionLayer& layer) {
  return (side + 2 * layer.padding - layer.filter) / layer.stride + 1;
}

// Every second place, rounded up.
FrameShape Pooled(const FrameShape& shape) {
  return {(shape.height + 1) / 2, (shape.width + 1) / 2, shape.channels};
}

absl::StatusOr<FrameShape> FrameOf(const PolicySpec& spec) {
  const std::vector<std::int64_t>& shape = spec.frame_shape;
  bool fits = shape.size() == 3;
  for (const std::int64_t side : shape) fits = fits && side >= 1 && side <= kMaxSide;
  if (fits) return FrameShape{shape[0], shape[1], shape[2]};
  return runtime::InvalidArgument(
      "policy.frame_shape: a convolution needs [height, width, channels], each from 1 to " +
      std::to_string(kMaxSide));
}

Convolution Residual(FrameShape shape) {
  Convolution convolution;
  convolution.residual = true;
  int section = 0;
  for (const std::int64_t channels : {16, 32, 32}) {
    for (std::size_t i = 0; i < kResidualLayers; ++i) {
      const FrameShape out = {shape.height, shape.width, channels};
      convolution.layers.push_back(
          {.name = "convolution." + std::to_string(section) + "." + std::to_string(i),
           .in = shape,
           .out = out,
           .filter = 3,
           .padding = 1});
      shape = i == 0 ? Pooled(out) : out;
    }
    ++section;
  }
  convolution.out = shape;
  return convolution;
}

absl::StatusOr<Convolution> Plain(FrameShape shape, const std::vector<Filters>& filters) {
  Convolution convolution;
  for (const Filters& each : filters) {
    ConvolutionLayer layer{.name = "convolution." + std::to_string(convolution.layers.size()),
                           .in = shape,
                           .out = {},
                           .filter = each.side,
                           .stride = each.stride};
    if (shape.height < each.side || shape.width < each.side) {
      return runtime::InvalidArgument(
          "policy.frame_shape: " + layer.name + " sees " + std::to_string(shape.height) + " x " +
          std::to_string(shape.width) + " places, which is smaller than its filter of " +
          std::to_string(each.side) + " x " + std::to_string(each.side));
    }
    layer.out = {SideAfter(shape.height, layer), SideAfter(shape.width, layer), each.count};
    shape = layer.out;
    convolution.layers.push_back(std::move(layer));
  }
  convolution.out = shape;
  return convolution;
}

}  // namespace

absl::StatusOr<Convolution> ConvolutionOf(const PolicySpec& spec) {
  SHOAL_ASSIGN_OR_RETURN(const FrameShape frame, FrameOf(spec));
  if (spec.convolution == "nature") return Plain(frame, {{32, 8, 4}, {64, 4, 2}, {64, 3, 1}});
  if (spec.convolution == "small") return Plain(frame, {{16, 8, 4}, {32, 4, 2}});
  if (spec.convolution == "impala") return Residual(frame);
  return runtime::InvalidArgument("policy.convolution: unknown value " + spec.convolution);
}

}  // namespace shoal::model
