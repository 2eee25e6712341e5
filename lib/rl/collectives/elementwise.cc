// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/elementwise.h"

#include <algorithm>

namespace shoal::collectives {
namespace {

// This file is compiled with -O3, which makes vector code of the loop.
template <typename T, typename Op>
void Combine(void*, std::byte* into, const std::byte* part, std::size_t bytes) {
  T* __restrict__ const values = reinterpret_cast<T*>(into);
  const T* __restrict__ const others = reinterpret_cast<const T*>(part);
  const std::size_t count = bytes / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) values[i] = Op()(values[i], others[i]);
}

template <typename T>
struct Sum {
  T operator()(T a, T b) const { return a + b; }
};
struct Max {
  double operator()(double a, double b) const { return std::max(a, b); }
};
struct Min {
  double operator()(double a, double b) const { return std::min(a, b); }
};

}  // namespace

const Elementwise kSumOfFloats{sizeof(float), Combine<float, Sum<float>>};
const Elementwise kSumOfDoubles{sizeof(double), Combine<double, Sum<double>>};
const Elementwise kMaxOfDoubles{sizeof(double), Combine<double, Max>};
const Elementwise kMinOfDoubles{sizeof(double), Combine<double, Min>};

}  // namespace shoal::collectives
