// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace shoal::runtime {

TEST_CASE("a tensor holds as many bytes as its shape and dtype say") {
  const Tensor tensor(DType::kFloat16, {3, 5});
  REQUIRE(tensor.bytes().size() == 30);
  REQUIRE(tensor.size() == 15);
  REQUIRE(Tensor(DType::kInt64, {}).bytes().size() == 8);
  REQUIRE(Tensor(DType::kInt64, {4, 0}).bytes().empty());
}

TEST_CASE("values read back as they were written") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::Of<float>({2, 3}, values);
  REQUIRE(tensor.values<float>()[5] == 6.0F);
}

TEST_CASE("element counts refuse negative and huge shapes") {
  const Shape negative = {2, -1};
  REQUIRE(CountElements(negative).status().code() == absl::StatusCode::kInvalidArgument);
  const Shape huge = {std::int64_t{1} << 30, std::int64_t{1} << 30, std::int64_t{1} << 30};
  REQUIRE(CountElements(huge).status().code() == absl::StatusCode::kInvalidArgument);
  const Shape empty = {0, std::numeric_limits<std::int64_t>::max()};
  REQUIRE(CountElements(empty).value() == 0);
}

TEST_CASE("every half survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = FromHalf(half);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(FromHalf(ToHalf(value))));
    } else {
      REQUIRE(ToHalf(value) == half);
    }
  }
}

TEST_CASE("floats round to the nearest half, ties to even, and overflow to infinity") {
  REQUIRE(FromHalf(ToHalf(1.0F + 0x1p-11F)) == 1.0F);
  REQUIRE(FromHalf(ToHalf(1.0F + 0x1.8p-11F)) == 1.0F + 0x1p-10F);
  REQUIRE(FromHalf(ToHalf(1.0F + 0x3p-11F)) == 1.0F + 0x1p-9F);
  REQUIRE(std::isinf(FromHalf(ToHalf(65520.0F))));
  REQUIRE(FromHalf(ToHalf(65519.0F)) == 65504.0F);
  REQUIRE(FromHalf(ToHalf(0x1p-25F)) == 0.0F);
  REQUIRE(FromHalf(ToHalf(-0x1p-24F)) == -0x1p-24F);
}

}  // namespace shoal::runtime
