// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/body_encoder.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "text/embedding/unit_rows.h"
#include "text/lexical/text_object.h"

namespace shoal::embedding {
namespace {

// The end of the version. Raise it whenever a text would go to the other encoder.
constexpr const char* kDivision = "|2";

// Texts and their places among those of a call.
struct PlacedTexts {
  std::vector<std::string_view> texts;
  std::vector<std::size_t> places;
};

absl::Status EncodeInto(const tokens::TextEncoder& encoder, const PlacedTexts& placed,
                        std::size_t size, std::span<std::uint16_t> out) {
  if (placed.texts.empty()) return absl::OkStatus();
  const auto own = static_cast<std::size_t>(encoder.dimension());
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(placed.texts));
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                         Halves(encoded, placed.texts.size(), own));
  for (std::size_t i = 0; i < placed.places.size(); ++i) {
    std::ranges::copy(halves.subspan(i * own, own),
                      out.subspan(placed.places[i] * size, own).begin());
  }
  return absl::OkStatus();
}

}  // namespace

BodyEncoder::BodyEncoder(std::unique_ptr<tokens::TextEncoder> others,
                         std::unique_ptr<tokens::TextEncoder> bodies)
    : others_(std::move(others)),
      bodies_(std::move(bodies)),
      version_(others_->version() + "|" + bodies_->version() + kDivision) {}

std::int64_t BodyEncoder::dimension() const {
  return std::max(others_->dimension(), bodies_->dimension());
}

absl::StatusOr<runtime::Tensor> BodyEncoder::Encode(std::span<const std::string_view> texts) const {
  PlacedTexts others;
  PlacedTexts bodies;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    PlacedTexts& placed = tokens::KindOf(texts[i]) == tokens::TextKind::kBody ? bodies : others;
    placed.texts.push_back(texts[i]);
    placed.places.push_back(i);
  }
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  const auto size = static_cast<std::size_t>(dimension());
  SHOAL_RETURN_IF_ERROR(EncodeInto(*others_, others, size, MutableHalves(vectors)));
  SHOAL_RETURN_IF_ERROR(EncodeInto(*bodies_, bodies, size, MutableHalves(vectors)));
  return vectors;
}

}  // namespace shoal::embedding
