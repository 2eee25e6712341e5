// SPDX-License-Identifier: Apache-2.0
// Inner products of many rows of binary16 numbers with a few vectors.
//
// Embeddings are kept as they came, in binary16: reading them is what such a product costs, and a
// row is read once for up to eight vectors. The best of three versions is chosen by the processor
// at run time. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::model {

// Rows of `stride` binary16 numbers each, of which the first `size` count.
struct HalfRows {
  std::span<const std::uint16_t> values;  // [rows, stride]
  std::size_t stride = 0;
  std::size_t size = 0;

  std::size_t rows() const { return stride == 0 ? 0 : values.size() / stride; }
};

// out[v, row] = <vectors[v], rows[row]>, summed in binary32. `vectors` [V, size], `out` [V, rows].
// REQUIRES: the sizes above.
void InnerProducts(const HalfRows& rows, std::span<const float> vectors, std::span<float> out);

}  // namespace shoal::model
