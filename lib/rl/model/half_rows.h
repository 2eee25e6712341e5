// SPDX-License-Identifier: Apache-2.0
// Inner products of many rows of binary16 numbers with a few vectors.
//
// Embeddings stay in binary16, as they were received, because reading memory dominates the cost of
// such a product. Each row is read once for up to eight vectors. The functions are pure; the
// processor decides at run time which of three versions runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::model {

// Rows of `stride` binary16 numbers each, of which only the first `size` are used.
struct HalfRows {
  std::span<const std::uint16_t> values;  // [rows, stride]
  std::size_t stride = 0;
  std::size_t size = 0;

  std::size_t rows() const { return stride == 0 ? 0 : values.size() / stride; }
};

// Computes out[v, row] = <vectors[v], rows[row]>, summed in binary32. REQUIRES: `vectors` is [V,
// size] and `out` is [V, rows].
void InnerProducts(const HalfRows& rows, std::span<const float> vectors, std::span<float> out);

}  // namespace shoal::model
