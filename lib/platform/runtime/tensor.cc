// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "platform/runtime/bfloat16.h"

namespace shoal::runtime {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

}  // namespace

std::size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      return 1;
  }
  SHOAL_CHECK(false);
}

std::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat64:
      return "float64";
    case DType::kInt8:
      return "int8";
    case DType::kUInt8:
      return "uint8";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kBool:
      return "bool";
  }
  SHOAL_CHECK(false);
}

absl::StatusOr<std::int64_t> CountElements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return InvalidArgument("negative dimension in shape " + ToString(shape));
    if (dimension != 0 && count > kMaxElements / dimension) {
      return InvalidArgument("shape " + ToString(shape) + " has more than 2^40 elements");
    }
    count *= dimension;
  }
  return count;
}

std::string ToString(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto count = CountElements(shape_);
  SHOAL_CHECK(count.ok());
  bytes_.resize(static_cast<std::size_t>(*count) * SizeOf(dtype));
}

Tensor::Tensor(DType dtype, Shape shape, std::vector<std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(std::move(bytes)) {
  const auto count = CountElements(shape_);
  SHOAL_CHECK(count.ok());
  SHOAL_CHECK(bytes_.size() == static_cast<std::size_t>(*count) * SizeOf(dtype));
}

std::uint16_t ToHalf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000) {
    return static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00));
  }
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Adding 0.5 aligns the mantissa of a subnormal half with the low bits of the sum, and rounds
    // it.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  const std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float FromHalf(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  const float value = static_cast<float>(magnitude) * 0x1.0p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

namespace {

// The elements need not be aligned.
template <typename T, typename Convert>
void ReadAs(std::span<const std::byte> bytes, std::span<float> values, Convert convert) {
  SHOAL_CHECK(bytes.size() == values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(element);
  }
}

template <typename T, typename Convert>
void WriteAs(std::span<const float> values, std::span<std::byte> bytes, Convert convert) {
  SHOAL_CHECK(bytes.size() == values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T element = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
}

template <typename T>
T ToInteger(float value) {
  if (std::isnan(value)) return 0;
  // Both bounds are exact as doubles, except the upper bound of 64 bits, which is one above the
  // range.
  constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHighest = static_cast<double>(std::numeric_limits<T>::max());
  const double rounded = std::nearbyint(static_cast<double>(value));
  if (rounded <= kLowest) return std::numeric_limits<T>::min();
  if (rounded >= kHighest) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

// Does what ToInteger does, several times faster, for frames have tens of thousands of bytes.
std::uint8_t ToByte(float value) {
  // A NaN is not above 0.
  const float held = value > 0 ? std::min(value, 255.0F) : 0.0F;
  // The last bit of a float from here on is worth 1, so that the sum is rounded.
  constexpr float kWhole = 0x1p23F;
  return static_cast<std::uint8_t>(held + kWhole - kWhole);
}

}  // namespace

void ToFloats(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
  const auto plain = [](auto element) { return static_cast<float>(element); };
  switch (dtype) {
    case DType::kFloat32:
      return ReadAs<float>(bytes, values, plain);
    case DType::kFloat16:
      return ReadAs<std::uint16_t>(bytes, values, FromHalf);
    case DType::kBFloat16:
      return ReadAs<std::uint16_t>(bytes, values, FromBFloat16);
    case DType::kFloat64:
      return ReadAs<double>(bytes, values, plain);
    case DType::kInt8:
      return ReadAs<std::int8_t>(bytes, values, plain);
    case DType::kUInt8:
      return ReadAs<std::uint8_t>(bytes, values, plain);
    case DType::kInt32:
      return ReadAs<std::int32_t>(bytes, values, plain);
    case DType::kInt64:
      return ReadAs<std::int64_t>(bytes, values, plain);
    case DType::kBool:
      return ReadAs<std::uint8_t>(bytes, values,
                                  [](std::uint8_t element) { return element != 0 ? 1.0F : 0.0F; });
  }
  SHOAL_CHECK(false);
}

void FromFloats(std::span<const float> values, DType dtype, std::span<std::byte> bytes) {
  switch (dtype) {
    case DType::kFloat32:
      return WriteAs<float>(values, bytes, [](float value) { return value; });
    case DType::kFloat16:
      return WriteAs<std::uint16_t>(values, bytes, ToHalf);
    case DType::kBFloat16:
      return WriteAs<std::uint16_t>(values, bytes, ToBFloat16);
    case DType::kFloat64:
      return WriteAs<double>(values, bytes, [](float value) { return double{value}; });
    case DType::kInt8:
      return WriteAs<std::int8_t>(values, bytes, ToInteger<std::int8_t>);
    case DType::kUInt8:
      return WriteAs<std::uint8_t>(values, bytes, ToByte);
    case DType::kInt32:
      return WriteAs<std::int32_t>(values, bytes, ToInteger<std::int32_t>);
    case DType::kInt64:
      return WriteAs<std::int64_t>(values, bytes, ToInteger<std::int64_t>);
    case DType::kBool:
      return WriteAs<std::uint8_t>(values, bytes, [](float value) {
        return static_cast<std::uint8_t>(value != 0 && !std::isnan(value));
      });
  }
  SHOAL_CHECK(false);
}

}  // namespace shoal::runtime
