// SPDX-License-Identifier: Apache-2.0
// Where torch computes, by name.
//
// Shows torch.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "runtime/status.h"

namespace shoal::language {

// "cpu", "cuda" or "cuda:<n>"; INVALID_ARGUMENT for another name, FAILED_PRECONDITION where there
// is no CUDA.
absl::StatusOr<at::Device> FindDevice(const std::string& name);

}  // namespace shoal::language
