// SPDX-License-Identifier: Apache-2.0
// A file of parameters with its large tensors in half the bytes: IEEE 754 binary16.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::parameters {

// Returns `file` with each FLOAT32 tensor of two or more dimensions as FLOAT16. A weight w becomes
// the nearest half, ties to even: |w' - w| <= max(2^-11 |w|, 2^-25). A tensor stays as it is where
// a value is not finite or beyond 65504, the largest half; so do tensors of other dtypes, and those
// of fewer dimensions, which are small: biases, and the moments by which observations are
// normalised. The metadata stay too. Returns INVALID_ARGUMENT or DATA_LOSS if `file` is no
// safetensors file.
absl::StatusOr<std::string> RoundToHalf(std::string_view file);

}  // namespace shoal::parameters
