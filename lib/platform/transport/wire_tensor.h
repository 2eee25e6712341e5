// SPDX-License-Identifier: Apache-2.0
// Converts proto::Tensor to and from runtime's arrays, and validates it at the edge.
//
// Every function is pure. Errors are INVALID_ARGUMENT (RESOURCE_EXHAUSTED past `max_bytes`). Their
// message starts with `name` and says what was expected and what came.
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

// Borrows shape and bytes from `tensor`, which must outlive the view unchanged. A valid tensor has
// a known dtype, no negative dimension, and as many bytes as its shape needs.
absl::StatusOr<runtime::TensorView> View(const proto::Tensor& tensor, std::string_view name,
                                         const TensorLimits& limits = {});

// Does the same, and also requires exactly this dtype and shape.
absl::StatusOr<runtime::TensorView> ViewAs(const proto::Tensor& tensor, std::string_view name,
                                           runtime::DType dtype,
                                           std::span<const std::int64_t> shape);

// Returns a copy that owns its bytes.
absl::StatusOr<runtime::Tensor> Copy(const proto::Tensor& tensor, std::string_view name,
                                     const TensorLimits& limits = {});

// Returns the wire's number for `dtype`; the two enums agree.
proto::DType ToWire(runtime::DType dtype);
absl::StatusOr<runtime::DType> FromWire(proto::DType dtype);

void ToWire(const runtime::TensorView& view, proto::Tensor& tensor);

}  // namespace shoal::transport
