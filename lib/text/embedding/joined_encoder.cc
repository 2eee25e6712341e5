// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/joined_encoder.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "text/embedding/unit_rows.h"

namespace shoal::embedding {

JoinedEncoder::JoinedEncoder(std::unique_ptr<tokens::TextEncoder> first,
                             std::unique_ptr<tokens::TextEncoder> second)
    : first_(std::move(first)),
      second_(std::move(second)),
      version_(first_->version() + "+" + second_->version()) {}

std::int64_t JoinedEncoder::dimension() const { return first_->dimension() + second_->dimension(); }

absl::StatusOr<runtime::Tensor> JoinedEncoder::Encode(
    std::span<const std::string_view> texts) const {
  const float weight = std::sqrt(0.5F);
  runtime::Tensor joined(runtime::DType::kFloat16,
                         {static_cast<std::int64_t>(texts.size()), dimension()});
  const std::span<std::uint16_t> out = MutableHalves(joined);
  const auto width = static_cast<std::size_t>(dimension());
  std::size_t offset = 0;
  for (const tokens::TextEncoder* part : {first_.get(), second_.get()}) {
    const auto size = static_cast<std::size_t>(part->dimension());
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor vectors, part->Encode(texts));
    SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                           Halves(vectors, texts.size(), size));
    for (std::size_t row = 0; row < texts.size(); ++row) {
      for (std::size_t i = 0; i < size; ++i) {
        out[row * width + offset + i] =
            runtime::ToHalf(weight * runtime::FromHalf(halves[row * size + i]));
      }
    }
    offset += size;
  }
  return joined;
}

}  // namespace shoal::embedding
