// SPDX-License-Identifier: Apache-2.0
#include "rl/model/half_rows.h"

#include <catch2/catch.hpp>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"

namespace shoal::model {
namespace {

TEST_CASE("Inner products of binary16 rows are those of double precision, for any sizes") {
  runtime::Random random(3);
  for (const std::size_t size : {1U, 7U, 16U, 31U, 64U, 512U}) {
    for (const std::size_t vectors : {1U, 2U, 5U, 8U, 9U, 17U}) {
      INFO(size << " numbers, " << vectors << " vectors");
      const std::size_t stride = size + 3;
      std::vector<std::uint16_t> values;
      for (std::size_t i = 0; i < 5 * stride; ++i) {
        values.push_back(runtime::ToHalf(static_cast<float>(random.Normal())));
      }
      std::vector<float> with;
      for (std::size_t i = 0; i < vectors * size; ++i) {
        with.push_back(static_cast<float>(random.Normal()));
      }
      std::vector<float> products(vectors * 5);
      InnerProducts({.values = values, .stride = stride, .size = size}, with, products);
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t row = 0; row < 5; ++row) {
          double expected = 0;
          for (std::size_t i = 0; i < size; ++i) {
            expected += static_cast<double>(runtime::FromHalf(values[row * stride + i])) *
                        with[v * size + i];
          }
          REQUIRE(products[v * 5 + row] == Approx(expected).margin(1e-4));
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::model
