// SPDX-License-Identifier: Apache-2.0
// Finds torch's devices by name, and copies numbers to them.
//
// This header shows torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::language {

// Parses "cpu", "cuda" or "cuda:<n>". Returns INVALID_ARGUMENT for another name,
// FAILED_PRECONDITION where there is no CUDA.
absl::StatusOr<at::Device> FindDevice(const std::string& name);

// Returns a copy of `values` on `device`, [values.size()] float32. Throws what torch throws.
at::Tensor OnDevice(std::span<const float> values, at::Device device);
// Returns the values of a float32 tensor, row after row. Throws what torch throws.
std::vector<float> OnHost(const at::Tensor& tensor);

}  // namespace shoal::language
