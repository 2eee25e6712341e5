// SPDX-License-Identifier: Apache-2.0
// proto::Tensor, checked at the edge, to and from runtime's arrays.
//
// Every function is pure. Errors are INVALID_ARGUMENT (RESOURCE_EXHAUSTED past `max_bytes`) with a
// sentence that starts with `name` and says what was expected and what came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "proto/tensor.pb.h"

namespace shoal::transport {

struct TensorLimits {
  std::size_t max_rank = 8;
  std::size_t max_bytes = std::size_t{64} << 20;
};

// Borrows shape and bytes from `tensor`, which outlives the view and is not changed meanwhile. The
// dtype is known, no dimension is negative, and the byte count fits the shape.
absl::StatusOr<runtime::TensorView> View(const proto::Tensor& tensor, std::string_view name,
                                         const TensorLimits& limits = {});

// The same, and dtype and shape are exactly these.
absl::StatusOr<runtime::TensorView> ViewAs(const proto::Tensor& tensor, std::string_view name,
                                           runtime::DType dtype,
                                           std::span<const std::int64_t> shape);

// An own copy.
absl::StatusOr<runtime::Tensor> Copy(const proto::Tensor& tensor, std::string_view name,
                                     const TensorLimits& limits = {});

// The wire's number for `dtype`; the two enums agree.
proto::DType ToWire(runtime::DType dtype);
absl::StatusOr<runtime::DType> FromWire(proto::DType dtype);

void ToWire(const runtime::TensorView& view, proto::Tensor& tensor);

}  // namespace shoal::transport
