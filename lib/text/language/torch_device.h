// SPDX-License-Identifier: Apache-2.0
// Where torch computes, by name, and numbers brought there.
//
// Shows torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <span>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::language {

// "cpu", "cuda" or "cuda:<n>"; INVALID_ARGUMENT for another name, FAILED_PRECONDITION where there
// is no CUDA.
absl::StatusOr<at::Device> FindDevice(const std::string& name);

// A copy of `values` on `device`, [values.size()] float32. Throws what torch does.
at::Tensor OnDevice(std::span<const float> values, at::Device device);

}  // namespace shoal::language
