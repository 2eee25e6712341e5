// SPDX-License-Identifier: Apache-2.0
// A layer of one size that can be computed forward and backward, and what a graph counts for it.
//
// Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "placement/device_fit.h"
#include "platform/runtime/clock.h"

namespace shoal::profiler {

struct Layer {
  // The kind of operation in graphs, e.g. "conv".
  std::string kind;
  // For people, e.g. "64 to 256 channels, 1x1, 56x56".
  std::string size;
  // Computes the output. Empty for an update, which has only a step.
  std::function<at::Tensor()> forward;
  // What the backward pass finds the gradients of.
  std::vector<at::Tensor> wanted;
  // Changes parameters in place.
  std::function<void()> step;
  // As data/placement/training_step.py counts them: of the forward operation, and the factor of the
  // backward one.
  double flops = 0;
  double backward_times = 1;
  double parameter_bytes = 0;
  double input_bytes = 0;
  double output_bytes = 0;
  // Whether the backward operation reads the inputs again, and not the output.
  bool saves_inputs = false;
};

// Layers of all kinds of the shipped graphs, each at several sizes, as networks for images with
// `batch` images and networks for sequences have them. Tensors are made now.
std::vector<Layer> MakeLayers(std::int64_t batch);

// Computes the layer again and again, at least three times and about as long as `span`, and returns
// the medians of its operations: forward and backward, or the update. The first computation is not
// counted.
std::vector<placement::TimedOperation> TimeLayer(const Layer& layer, runtime::Duration span);

}  // namespace shoal::profiler
