// SPDX-License-Identifier: Apache-2.0
// Rows of halves in tensors [N, D]: read with their shape checked, written at length 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::embedding {

// All numbers, row after row. INTERNAL when `tensor` is not FLOAT16 [rows, dimension]. Borrows from
// `tensor`.
absl::StatusOr<std::span<const std::uint16_t>> Halves(const runtime::Tensor& tensor,
                                                      std::size_t rows, std::size_t dimension);
// REQUIRES: `tensor` is FLOAT16.
std::span<std::uint16_t> MutableHalves(runtime::Tensor& tensor);

// `values` scaled to length 1; zeros stay zeros. REQUIRES: equal sizes.
void WriteUnit(std::span<const float> values, std::span<std::uint16_t> out);

}  // namespace shoal::embedding
