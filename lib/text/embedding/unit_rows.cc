// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/unit_rows.h"

#include <cmath>
#include <string>

#include "platform/runtime/check.h"

namespace shoal::embedding {

absl::StatusOr<std::span<const std::uint16_t>> Halves(const runtime::Tensor& tensor,
                                                      std::size_t rows, std::size_t dimension) {
  const runtime::Shape expected = {static_cast<std::int64_t>(rows),
                                   static_cast<std::int64_t>(dimension)};
  if (tensor.dtype() != runtime::DType::kFloat16 || tensor.shape() != expected) {
    return runtime::Internal("an encoder made " + std::string(Name(tensor.dtype())) + " " +
                             runtime::ToString(tensor.shape()) + " instead of float16 " +
                             runtime::ToString(expected));
  }
  return std::span(reinterpret_cast<const std::uint16_t*>(tensor.bytes().data()), tensor.size());
}

std::span<std::uint16_t> MutableHalves(runtime::Tensor& tensor) {
  SHOAL_CHECK(tensor.dtype() == runtime::DType::kFloat16);
  return {reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data()), tensor.size()};
}

void WriteUnit(std::span<const float> values, std::span<std::uint16_t> out) {
  SHOAL_CHECK(values.size() == out.size());
  double sum = 0;
  for (const float x : values) sum += static_cast<double>(x) * static_cast<double>(x);
  const double scale = sum == 0 ? 0 : 1 / std::sqrt(sum);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = runtime::ToHalf(static_cast<float>(static_cast<double>(values[i]) * scale));
  }
}

}  // namespace shoal::embedding
