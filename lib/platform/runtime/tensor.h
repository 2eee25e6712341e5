// SPDX-License-Identifier: Apache-2.0
// A plain array (dtype, shape, bytes) for folders that must not see torch or protobuf.
//
// Tensor owns its bytes (row-major, little endian), and is movable and copyable. TensorView borrows
// them. Neither is synchronised. A Tensor's bytes are aligned to 16; a view promises no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/status.h"

namespace shoal::runtime {

enum class DType : std::uint8_t {
  kFloat32 = 1,
  kFloat16 = 2,
  kBFloat16 = 3,
  kFloat64 = 4,
  kInt8 = 5,
  kUInt8 = 6,
  kInt32 = 7,
  kInt64 = 8,
  kBool = 9,
};

// Returns the size of one element in bytes.
std::size_t SizeOf(DType dtype);
std::string_view Name(DType dtype);

using Shape = std::vector<std::int64_t>;

// Returns the product of the dimensions. INVALID_ARGUMENT when one is negative or the product
// exceeds 2^40.
absl::StatusOr<std::int64_t> CountElements(std::span<const std::int64_t> shape);
// Returns a text such as "[2, 3]".
std::string ToString(std::span<const std::int64_t> shape);

template <typename T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<float>() {
  return DType::kFloat32;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kFloat64;
}
template <>
constexpr DType DTypeOf<std::int8_t>() {
  return DType::kInt8;
}
template <>
constexpr DType DTypeOf<std::uint8_t>() {
  return DType::kUInt8;
}
template <>
constexpr DType DTypeOf<std::int32_t>() {
  return DType::kInt32;
}
template <>
constexpr DType DTypeOf<std::int64_t>() {
  return DType::kInt64;
}
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}

class Tensor {
 public:
  Tensor() = default;
  // Makes a tensor of zeros. REQUIRES: no dimension is negative.
  Tensor(DType dtype, Shape shape);
  // Takes `bytes`. REQUIRES: they are as many as dtype and shape say.
  Tensor(DType dtype, Shape shape, std::vector<std::byte> bytes);
  // Copies `values`. REQUIRES: their number is the product of `shape`.
  template <typename T>
  static Tensor Of(Shape shape, std::span<const T> values) {
    Tensor tensor(DTypeOf<T>(), std::move(shape));
    SHOAL_CHECK(values.size_bytes() == tensor.bytes_.size());
    if (!values.empty()) std::memcpy(tensor.bytes_.data(), values.data(), values.size_bytes());
    return tensor;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // The number of elements, which is the product of the dimensions.
  std::size_t size() const { return bytes_.size() / SizeOf(dtype_); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> mutable_bytes() { return bytes_; }

  // REQUIRES: dtype() is T's.
  template <typename T>
  std::span<const T> values() const {
    SHOAL_CHECK(dtype_ == DTypeOf<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), size()};
  }
  template <typename T>
  std::span<T> mutable_values() {
    SHOAL_CHECK(dtype_ == DTypeOf<T>());
    return {reinterpret_cast<T*>(bytes_.data()), size()};
  }

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_ = {0};
  std::vector<std::byte> bytes_;
};

struct TensorView {
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;

  TensorView() = default;
  TensorView(DType d, std::span<const std::int64_t> s, std::span<const std::byte> b)
      : dtype(d), shape(s), bytes(b) {}
  // Borrows from `tensor`, which must outlive the view.
  TensorView(
      const Tensor& tensor)  // NOLINT(google-explicit-constructor): a view of it is what it is
      : dtype(tensor.dtype()), shape(tensor.shape()), bytes(tensor.bytes()) {}
};

// These convert between IEEE 754 binary16 and binary32, rounding to nearest even.
std::uint16_t ToHalf(float value);
float FromHalf(std::uint16_t bits);

// Converts elements of `dtype` to binary32, rounding to nearest where they have more digits.
// Booleans become 0 and 1. REQUIRES: `bytes` holds values.size() elements.
void ToFloats(DType dtype, std::span<const std::byte> bytes, std::span<float> values);
// Converts in the other direction, rounding to nearest. An integer out of range becomes the nearest
// one in range, and a NaN becomes 0. A boolean is true where the number is not 0. REQUIRES: as for
// ToFloats.
void FromFloats(std::span<const float> values, DType dtype, std::span<std::byte> bytes);

}  // namespace shoal::runtime
