// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

// Compiles one copy of a function for each family of vector instructions; the loader picks one.
#define SHOAL_VECTOR_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))

namespace shoal::model {
namespace {

// Computes exp(x) for x <= 0 with an error of one or two units in the last place; the result is 0
// below the smallest normal number. It uses Cody and Waite's reduction by ln 2 and the polynomial
// of the Cephes library's expf. It has no branches and no calls, so that the compiler vectorises a
// loop of it.
inline __attribute__((always_inline)) float Exp(float x) {
  constexpr float kSmallest = -87.0F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: adding and subtracting it rounds.
  const float held = x < kSmallest ? kSmallest : x;
  const float k = (held * 1.44269504088896341F + kRounder) - kRounder;
  const float r = (held - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float e = (p * r * r + r) + 1.0F;
  const std::int32_t power = (static_cast<std::int32_t>(k) + 127) << 23;
  return x < kSmallest ? 0.0F : e * std::bit_cast<float>(power);
}

SHOAL_VECTOR_CLONES void AddRow(float* logits, const float* cosine, std::size_t n, float scale,
                                float shift) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) logits[i] += scale * cosine[i] + shift;
}

SHOAL_VECTOR_CLONES float MaximumOf(const float* logits, std::size_t n) {
  float maximum = logits[0];
#pragma omp simd reduction(max : maximum)
  for (std::size_t i = 0; i < n; ++i) maximum = std::max(maximum, logits[i]);
  return maximum;
}

SHOAL_VECTOR_CLONES void SumsOf(const float* logits, std::size_t n, float maximum, float* sums) {
  float sum = 0;
  float weighted = 0;
#pragma omp simd reduction(+ : sum, weighted)
  for (std::size_t i = 0; i < n; ++i) {
    const float x = logits[i] - maximum;
    const float e = Exp(x);
    sum += e;
    weighted += e * x;
  }
  sums[0] = sum;
  sums[1] = weighted;
}

SHOAL_VECTOR_CLONES void ExponentialsOf(const float* logits, std::size_t n, float maximum,
                                        float* out) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) out[i] = Exp(logits[i] - maximum);
}

SHOAL_VECTOR_CLONES float DotOf(const float* a, const float* b, std::size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

SHOAL_VECTOR_CLONES void GradientOf(float* logits, std::size_t n, float maximum, float constant,
                                    float slope) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const float x = logits[i] - maximum;
    logits[i] = Exp(x) * (constant + slope * x);
  }
}

}  // namespace

double SoftmaxRow::LogProbability(float logit) const {
  return static_cast<double>(logit) - maximum - std::log(static_cast<double>(sum));
}

double SoftmaxRow::Entropy() const {
  const double total = sum;
  return std::log(total) - weighted / total;
}

void AddSimilarity(std::span<float> logits, std::span<const float> cosine, float scale,
                   float shift) {
  AddRow(logits.data(), cosine.data(), logits.size(), scale, shift);
}

SoftmaxRow Summarise(std::span<const float> logits) {
  SoftmaxRow row;
  row.maximum = MaximumOf(logits.data(), logits.size());
  float sums[2];
  SumsOf(logits.data(), logits.size(), row.maximum, sums);
  row.sum = sums[0];
  row.weighted = sums[1];
  return row;
}

void Exponentials(std::span<const float> logits, float maximum, std::span<float> out) {
  ExponentialsOf(logits.data(), logits.size(), maximum, out.data());
}

float Dot(std::span<const float> a, std::span<const float> b) {
  return DotOf(a.data(), b.data(), a.size());
}

void SoftmaxGradient(std::span<float> logits, float maximum, float constant, float slope) {
  GradientOf(logits.data(), logits.size(), maximum, constant, slope);
}

}  // namespace shoal::model
