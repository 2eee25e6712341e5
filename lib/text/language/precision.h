// SPDX-License-Identifier: Apache-2.0
// The precision in which a language model's matrices and attention compute.
//
// This header shows torch. Thread-safe.
#pragma once

#include <c10/core/ScalarType.h>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::language {

// Returns torch's type for `precision`: kFloat or kBFloat16. INVALID_ARGUMENT for any other.
absl::StatusOr<at::ScalarType> ComputeTypeOf(runtime::DType precision);

}  // namespace shoal::language
