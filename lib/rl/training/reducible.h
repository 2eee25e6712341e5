// SPDX-License-Identifier: Apache-2.0
// Where ranks sum a tensor: in the memory of its device if their transport can, otherwise in the
// host's. This header shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include "rl/collectives/gradient_reducer.h"

namespace shoal::training {

// Whether the reducer takes arrays in the memory of `device`.
inline bool Takes(const collectives::GradientReducer& reducer, const at::Device& device) {
  return device.is_cpu() || (device.is_cuda() && device.index() == reducer.gpu());
}

// Returns the tensor where the reducer takes it, otherwise a copy of it in the host's memory, which
// the caller copies back.
inline at::Tensor Reducible(const collectives::GradientReducer& reducer, const at::Tensor& tensor) {
  return Takes(reducer, tensor.device()) ? tensor : tensor.to(at::kCPU);
}

}  // namespace shoal::training
