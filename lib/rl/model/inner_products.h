// SPDX-License-Identifier: Apache-2.0
// Inner products of many rows of numbers with a few vectors.
//
// A library's matrix product copies its larger operand into blocks first, which costs more than the
// product itself when there are only a few vectors. Here each row is read once for up to eight
// vectors and never copied. Embeddings stay in binary16, as they were received, because reading
// memory dominates the cost. The functions are pure; the processor decides at run time which of
// three versions runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::model {

// Rows of `stride` numbers each, of which only the first `size` are used. T is float, or
// std::uint16_t for binary16.
template <typename T>
struct Rows {
  std::span<const T> values;  // [rows, stride]
  std::size_t stride = 0;
  std::size_t size = 0;

  std::size_t rows() const { return stride == 0 ? 0 : values.size() / stride; }
};
using HalfRows = Rows<std::uint16_t>;
using FloatRows = Rows<float>;

// Computes out[v * out_stride + row] = <vectors[v], rows[row]>, summed in binary32. REQUIRES:
// `vectors` is [V, size], out_stride >= rows.rows(), and `out` holds all of these.
void InnerProducts(const HalfRows& rows, std::span<const float> vectors, std::span<float> out,
                   std::size_t out_stride);
void InnerProducts(const FloatRows& rows, std::span<const float> vectors, std::span<float> out,
                   std::size_t out_stride);

}  // namespace shoal::model
