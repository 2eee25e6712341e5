// SPDX-License-Identifier: Apache-2.0
#include "rl/model/inner_products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/tensor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shoal::model {
namespace {

// The number of vectors that share one reading of a row. Their sums fit in registers.
constexpr std::size_t kVectors = 8;

// Multiplies one row with V <= kVectors vectors of `size` numbers each, into sums[v].
template <typename T>
using RowProducts = void (*)(const T* row, const float* vectors, std::size_t size, float* sums);

// The function for V vectors has the index V - 1.
template <typename T>
using RowProductsByCount = std::array<RowProducts<T>, kVectors>;

float ToFloat(std::uint16_t half) { return runtime::FromHalf(half); }
float ToFloat(float value) { return value; }

// Adds the products of the elements from `begin` on.
template <std::size_t V, typename T>
void AddRest(const T* row, const float* vectors, std::size_t begin, std::size_t size, float* sums) {
  for (std::size_t i = begin; i < size; ++i) {
    const float value = ToFloat(row[i]);
    for (std::size_t v = 0; v < V; ++v) sums[v] += value * vectors[v * size + i];
  }
}

template <std::size_t V, typename T>
void Plain(const T* row, const float* vectors, std::size_t size, float* sums) {
  std::fill_n(sums, V, 0.0F);
  AddRest<V>(row, vectors, 0, size, sums);
}

#if defined(__x86_64__)

__attribute__((target("avx512f"))) inline __m512 Load512(const std::uint16_t* row) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)));
}
__attribute__((target("avx512f"))) inline __m512 Load512(const float* row) {
  return _mm512_loadu_ps(row);
}
__attribute__((target("avx2,fma,f16c"))) inline __m256 Load256(const std::uint16_t* row) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
}
__attribute__((target("avx2,fma,f16c"))) inline __m256 Load256(const float* row) {
  return _mm256_loadu_ps(row);
}

template <std::size_t V, typename T>
__attribute__((target("avx512f"))) void Avx512(const T* row, const float* vectors, std::size_t size,
                                               float* sums) {
  __m512 totals[V];
  for (__m512& total : totals) total = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    const __m512 values = Load512(row + i);
    for (std::size_t v = 0; v < V; ++v) {
      totals[v] = _mm512_fmadd_ps(values, _mm512_loadu_ps(vectors + v * size + i), totals[v]);
    }
  }
  for (std::size_t v = 0; v < V; ++v) sums[v] = _mm512_reduce_add_ps(totals[v]);
  AddRest<V>(row, vectors, i, size, sums);
}

template <std::size_t V, typename T>
__attribute__((target("avx2,fma,f16c"))) void Avx2(const T* row, const float* vectors,
                                                   std::size_t size, float* sums) {
  __m256 totals[V];
  for (__m256& total : totals) total = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const __m256 values = Load256(row + i);
    for (std::size_t v = 0; v < V; ++v) {
      totals[v] = _mm256_fmadd_ps(values, _mm256_loadu_ps(vectors + v * size + i), totals[v]);
    }
  }
  for (std::size_t v = 0; v < V; ++v) {
    alignas(32) float parts[8];
    _mm256_store_ps(parts, totals[v]);
    sums[v] = ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
              ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  }
  AddRest<V>(row, vectors, i, size, sums);
}

#endif

template <typename T, std::size_t... I>
RowProductsByCount<T> BestVersions(std::index_sequence<I...>) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {Avx512<I + 1, T>...};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return {Avx2<I + 1, T>...};
  }
#endif
  return {Plain<I + 1, T>...};
}

template <typename T>
void Multiply(const Rows<T>& rows, std::span<const float> vectors, std::span<float> out,
              std::size_t out_stride) {
  static const RowProductsByCount<T> kBest = BestVersions<T>(std::make_index_sequence<kVectors>());
  if (rows.size == 0 || rows.rows() == 0) return;
  const std::size_t count = vectors.size() / rows.size;
  SHOAL_CHECK(rows.size <= rows.stride && rows.rows() <= out_stride &&
              (count == 0 || out.size() >= (count - 1) * out_stride + rows.rows()));
  for (std::size_t begin = 0; begin < count; begin += kVectors) {
    const std::size_t together = std::min(kVectors, count - begin);
    const RowProducts<T> products = kBest[together - 1];
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      float sums[kVectors];
      products(rows.values.data() + row * rows.stride, vectors.data() + begin * rows.size,
               rows.size, sums);
      for (std::size_t v = 0; v < together; ++v) out[(begin + v) * out_stride + row] = sums[v];
    }
  }
}

}  // namespace

void InnerProducts(const HalfRows& rows, std::span<const float> vectors, std::span<float> out,
                   std::size_t out_stride) {
  Multiply(rows, vectors, out, out_stride);
}

void InnerProducts(const FloatRows& rows, std::span<const float> vectors, std::span<float> out,
                   std::size_t out_stride) {
  Multiply(rows, vectors, out, out_stride);
}

}  // namespace shoal::model
