// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/stored_encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "text/embedding/unit_rows.h"

namespace shoal::embedding {
namespace {

// The distinct texts of a call, without empty ones.
struct DistinctTexts {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit DistinctTexts(std::span<const std::string_view> given) {
    std::unordered_map<content::ContentKey, std::size_t> known;
    for (const std::string_view text : given) {
      if (text.empty()) {
        places.push_back(kNone);
        continue;
      }
      const auto [place, added] = known.emplace(content::KeyOf(text), texts.size());
      if (added) {
        texts.push_back(text);
        keys.push_back(place->first);
      }
      places.push_back(place->second);
    }
  }

  std::vector<std::string_view> texts;
  std::vector<content::ContentKey> keys;
  // The index of each given text in the distinct ones.
  std::vector<std::size_t> places;
};

}  // namespace

StoredEncoder::StoredEncoder(std::unique_ptr<tokens::TextEncoder> inner,
                             std::shared_ptr<EmbeddingFile> file)
    : inner_(std::move(inner)), file_(std::move(file)) {}

absl::StatusOr<runtime::Tensor> StoredEncoder::Encode(
    std::span<const std::string_view> texts) const {
  const auto size = static_cast<std::size_t>(dimension());
  const DistinctTexts distinct(texts);
  std::vector<Embedding> found = file_->Find(version(), size, distinct.keys);
  std::vector<std::string_view> missing;
  std::vector<content::ContentKey> missing_keys;
  std::vector<std::size_t> missing_places;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != nullptr) continue;
    missing.push_back(distinct.texts[i]);
    missing_keys.push_back(distinct.keys[i]);
    missing_places.push_back(i);
  }
  if (!missing.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor made, inner_->Encode(missing));
    SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                           Halves(made, missing.size(), size));
    file_->Insert(version(), size, missing_keys, halves);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const auto row = halves.subspan(i * size, size);
      found[missing_places[i]] =
          std::make_shared<const std::vector<std::uint16_t>>(row.begin(), row.end());
    }
  }
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  const std::span<std::uint16_t> out = MutableHalves(vectors);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (distinct.places[i] == DistinctTexts::kNone) continue;
    const std::vector<std::uint16_t>& row = *found[distinct.places[i]];
    std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  return vectors;
}

}  // namespace shoal::embedding
