// SPDX-License-Identifier: Apache-2.0
#include "rl/model/inner_products.h"

#include <catch2/catch.hpp>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"

namespace shoal::model {
namespace {

float Value(std::uint16_t half) { return runtime::FromHalf(half); }
float Value(float value) { return value; }

// Compares products of rows of T with those in double precision, for many sizes.
template <typename T, typename Convert>
void RequireProducts(const Convert& convert) {
  runtime::Random random(3);
  for (const std::size_t size : {1U, 7U, 16U, 31U, 64U, 512U}) {
    for (const std::size_t vectors : {1U, 2U, 5U, 8U, 9U, 17U}) {
      INFO(size << " numbers, " << vectors << " vectors");
      const std::size_t stride = size + 3;
      std::vector<T> values;
      for (std::size_t i = 0; i < 5 * stride; ++i) {
        values.push_back(convert(static_cast<float>(random.Normal())));
      }
      std::vector<float> with;
      for (std::size_t i = 0; i < vectors * size; ++i) {
        with.push_back(static_cast<float>(random.Normal()));
      }
      constexpr std::size_t kOutStride = 7;
      std::vector<float> products(vectors * kOutStride, -1.0F);
      InnerProducts(Rows<T>{.values = values, .stride = stride, .size = size}, with, products,
                    kOutStride);
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t row = 0; row < 5; ++row) {
          double expected = 0;
          for (std::size_t i = 0; i < size; ++i) {
            expected += static_cast<double>(Value(values[row * stride + i])) * with[v * size + i];
          }
          REQUIRE(products[v * kOutStride + row] == Approx(expected).margin(1e-4));
        }
        REQUIRE(products[v * kOutStride + 5] == -1.0F);
      }
    }
  }
}

TEST_CASE("Inner products of binary16 rows are those of double precision, for any sizes") {
  RequireProducts<std::uint16_t>([](float value) { return runtime::ToHalf(value); });
}

TEST_CASE("Inner products of single rows are those of double precision, for any sizes") {
  RequireProducts<float>([](float value) { return value; });
}

}  // namespace
}  // namespace shoal::model
