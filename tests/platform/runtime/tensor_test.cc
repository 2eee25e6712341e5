// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
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

TEST_CASE("a tensor takes the bytes that it is given, without a copy") {
  std::vector<std::byte> bytes = {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{1}};
  const std::byte* const where = bytes.data();
  const Tensor tensor(DType::kUInt8, {2, 2}, std::move(bytes));
  REQUIRE(tensor.bytes().data() == where);
  REQUIRE(tensor.shape() == Shape{2, 2});
  REQUIRE(tensor.values<std::uint8_t>()[2] == 2);
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

TEST_CASE("numbers of every dtype survive the way to float and back, at any alignment") {
  const std::vector<float> values = {0, 1, 1, 0, 1};
  for (int dtype = 1; dtype <= 9; ++dtype) {
    const auto type = static_cast<DType>(dtype);
    INFO(Name(type));
    std::vector<std::byte> bytes(1 + values.size() * SizeOf(type));
    const auto shifted = std::span(bytes).subspan(1);
    FromFloats(values, type, shifted);
    std::vector<float> back(values.size(), 7);
    ToFloats(type, shifted, back);
    REQUIRE(back == values);
  }
}

TEST_CASE("numbers that a dtype cannot hold become the nearest that it can") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {-1e30F, -2.5F, 2.6F, 300, 1e30F, nan};
  const auto through = [&values](DType dtype) {
    std::vector<std::byte> bytes(values.size() * SizeOf(dtype));
    FromFloats(values, dtype, bytes);
    std::vector<float> back(values.size());
    ToFloats(dtype, bytes, back);
    return back;
  };
  REQUIRE(through(DType::kInt8) == std::vector<float>{-128, -2, 3, 127, 127, 0});
  REQUIRE(through(DType::kUInt8) == std::vector<float>{0, 0, 3, 255, 255, 0});
  REQUIRE(through(DType::kInt32) == std::vector<float>{-0x1p31F, -2, 3, 300, 0x1p31F, 0});
  REQUIRE(through(DType::kInt64) == std::vector<float>{-0x1p63F, -2, 3, 300, 0x1p63F, 0});
  REQUIRE(through(DType::kBool) == std::vector<float>{1, 1, 1, 1, 1, 0});
  const std::vector<float> rounded = through(DType::kBFloat16);
  REQUIRE(rounded[3] == 300);
  REQUIRE(rounded[4] == Approx(1e30F).epsilon(0x1p-8));
  REQUIRE(std::isnan(rounded[5]));
}

}  // namespace shoal::runtime
