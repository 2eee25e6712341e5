// SPDX-License-Identifier: Apache-2.0
// Rows of binary16 numbers in tensors [N, D]: reads them with a shape check, and writes them at
// length 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::embedding {

// Returns all numbers, row after row, or INTERNAL when `tensor` is not FLOAT16 [rows, dimension].
// Borrows from `tensor`.
absl::StatusOr<std::span<const std::uint16_t>> Halves(const runtime::Tensor& tensor,
                                                      std::size_t rows, std::size_t dimension);
// REQUIRES: `tensor` is FLOAT16.
std::span<std::uint16_t> MutableHalves(runtime::Tensor& tensor);

// Writes `values` scaled to length 1; zeros stay zeros. REQUIRES: equal sizes.
void WriteUnit(std::span<const float> values, std::span<std::uint16_t> out);

}  // namespace shoal::embedding
