// SPDX-License-Identifier: Apache-2.0
// What lies between the convolutions of frames in bfloat16: each step reads and writes its numbers
// once.
//
// A place's channels lie side by side. In a blocked map the places of each square of 2 x 2 lie side
// by side, too, row by row, so that a convolution sees a map of half the height and width with four
// times the channels. Where the height or width is odd, the last squares hang over the edge.
//
// On a GPU these are kernels of our own, which the GPU's libraries compile when the program starts;
// torch's own operations take a pass over memory for each of bias, ReLU and sum. On a CPU they are
// torch's operations. This header shows torch and is for this folder only. Functions queue their
// work on the current stream, are thread-safe, and throw c10::Error.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "platform/runtime/status.h"
#include "rl/model/convolution.h"

namespace shoal::model {

// Numbers of R frames.
struct FrameMap {
  // bfloat16 in torch's channels_last: [R, channels, height, width], or blocked [R, 4 channels,
  // (height + 1) / 2, (width + 1) / 2].
  at::Tensor numbers;
  FrameShape shape;
  bool blocked = false;
};

// Compiles the kernels for a GPU, unless that was done. Returns FAILED_PRECONDITION with the reason
// where they cannot be compiled.
absl::Status PrepareFrameKernels(at::Device device);

// Returns the bytes [R, height * width * channels] as a blocked map whose channels are rounded up
// to an even number. What is added, and what hangs over the edge, is 0.
FrameMap Widened(const at::Tensor& bytes, const FrameShape& shape);

// Keeps of a map the greatest number of 3 x 3 at every second place, with a padding of 1, and adds
// `bias` [channels], float32: `sum`. `rectified` is the same after a ReLU. REQUIRES: the channels
// are a multiple of 8, and the sides of a result that is `blocked` are even.
struct Rectified {
  FrameMap sum;
  FrameMap rectified;
};
Rectified Pooled(const FrameMap& map, const at::Tensor& bias, bool blocked);

// Adds `other` and `bias` to `sum`, and makes `other` the same after a ReLU, in place. REQUIRES:
// the maps have the same shape and are not blocked over an edge; channels as above.
void AddAndRectify(const FrameMap& sum, const FrameMap& other, const at::Tensor& bias);

// Makes `map` the ReLU of itself plus `bias`, in place. REQUIRES: the same.
void Rectify(const FrameMap& map, const at::Tensor& bias);

}  // namespace shoal::model
