// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/tuned_encoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "text/embedding/unit_rows.h"
#include "text/lexical/text_object.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same text would get another vector.
constexpr std::uint64_t kTunedAlgorithm = 1;

std::string VersionOf(const tokens::TextEncoder& base, const AdapterParameters& adapter) {
  std::uint64_t hash = XXH3_64bits_withSeed(&adapter.base_share, sizeof(double), kTunedAlgorithm);
  for (const AffineMap* map : {&adapter.sentences, &adapter.requests}) {
    for (const std::vector<float>* part : {&map->weights, &map->bias}) {
      hash = XXH3_64bits_withSeed(part->data(), part->size() * sizeof(float), hash);
    }
  }
  char text[32];
  std::snprintf(text, sizeof(text), "+tuned-%016llx", static_cast<unsigned long long>(hash));
  return base.version() + text;
}

}  // namespace

TunedEncoder::TunedEncoder(std::unique_ptr<tokens::TextEncoder> base, AdapterParameters adapter)
    : base_(std::move(base)), adapter_(std::move(adapter)), version_(VersionOf(*base_, adapter_)) {}

absl::StatusOr<std::unique_ptr<TunedEncoder>> TunedEncoder::Create(
    std::unique_ptr<tokens::TextEncoder> base, AdapterParameters adapter) {
  SHOAL_RETURN_IF_ERROR(Validate(adapter));
  if (adapter.base_version != base->version() || adapter.base_size != base->dimension()) {
    return runtime::FailedPrecondition("the adapter was trained on vectors of " +
                                       adapter.base_version + ", and these are of " +
                                       base->version());
  }
  return std::unique_ptr<TunedEncoder>(new TunedEncoder(std::move(base), std::move(adapter)));
}

absl::StatusOr<runtime::Tensor> TunedEncoder::Encode(
    std::span<const std::string_view> texts) const {
  const auto base_size = static_cast<std::size_t>(adapter_.base_size);
  const auto size = static_cast<std::size_t>(adapter_.size);
  const auto tuned_weight = static_cast<float>(std::sqrt(1 - adapter_.base_share));
  const auto base_weight = static_cast<float>(std::sqrt(adapter_.base_share));
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor vectors, base_->Encode(texts));
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                         Halves(vectors, texts.size(), base_size));
  runtime::Tensor tuned(runtime::DType::kFloat16,
                        {static_cast<std::int64_t>(texts.size()), dimension()});
  std::span<std::uint16_t> rest = MutableHalves(tuned);
  std::vector<float> row(base_size);
  std::vector<float> mapped(size);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t d = 0; d < base_size; ++d) {
      row[d] = runtime::FromHalf(halves[i * base_size + d]);
    }
    const tokens::TextKind kind = tokens::KindOf(texts[i]);
    const bool asks = kind == tokens::TextKind::kSentence || kind == tokens::TextKind::kGoal;
    Apply(asks ? adapter_.sentences : adapter_.requests, row, mapped);
    for (std::size_t k = 0; k < size; ++k) rest[k] = runtime::ToHalf(tuned_weight * mapped[k]);
    for (std::size_t d = 0; d < base_size; ++d) {
      rest[size + d] = runtime::ToHalf(base_weight * row[d]);
    }
    rest = rest.subspan(size + base_size);
  }
  return tuned;
}

}  // namespace shoal::embedding
