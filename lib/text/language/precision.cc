// SPDX-License-Identifier: Apache-2.0
#include "text/language/precision.h"

namespace shoal::language {

absl::StatusOr<at::ScalarType> ComputeTypeOf(runtime::DType precision) {
  if (precision == runtime::DType::kFloat32) return at::kFloat;
  if (precision == runtime::DType::kBFloat16) return at::kBFloat16;
  return runtime::InvalidArgument("precision is neither float32 nor bfloat16");
}

}  // namespace shoal::language
