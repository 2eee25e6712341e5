// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/chunked_encoder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/embedding/unit_rows.h"

namespace shoal::embedding {
// The distinct parts of a call, and the parts of each text.
struct ChunkedEncoder::Plan {
  Plan(std::span<const std::string_view> texts, const Splitting& splitting, EmbeddingStore& store) {
    std::unordered_map<content::ContentKey, std::size_t> known;
    for (const std::string_view text : texts) {
      for (WeightedText& part : splitting.split(text)) {
        const auto [place, added] = known.emplace(content::KeyOf(part.text), parts.size());
        if (added) {
          parts.push_back(std::move(part.text));
          keys.push_back(place->first);
          embeddings.push_back(store.Find(place->first));
          if (embeddings.back() == nullptr) missing.push_back(place->second);
        }
        uses.push_back({place->second, part.weight});
      }
      ends.push_back(uses.size());
    }
  }

  struct Use {
    std::size_t part;
    float weight;
  };

  std::vector<std::string> parts;
  std::vector<content::ContentKey> keys;
  std::vector<Embedding> embeddings;
  // Indices of the parts to encode.
  std::vector<std::size_t> missing;
  // The texts' parts, one text after the other; text i ends before ends[i].
  std::vector<Use> uses;
  std::vector<std::size_t> ends;
};

ChunkedEncoder::ChunkedEncoder(std::unique_ptr<tokens::TextEncoder> inner,
                               const ChunkedEncoderOptions& options, runtime::Metrics* metrics)
    : inner_(std::move(inner)),
      options_(options),
      version_(inner_->version() + "-" + options.splitting.name),
      store_(std::make_unique<EmbeddingStore>(
          inner_->version(), static_cast<std::size_t>(inner_->dimension()), options.cache_bytes)),
      found_total_(metrics, "shoal_embedding_chunks_found_total",
                   "Parts of texts whose vectors were in memory"),
      encoded_total_(metrics, "shoal_embedding_chunks_encoded_total",
                     "Parts of texts given to the language model or the file of vectors") {}

absl::Status ChunkedEncoder::EncodeMissing(Plan& plan) const {
  const std::size_t size = store_->embedding_size();
  for (std::size_t begin = 0; begin < plan.missing.size();) {
    std::vector<std::string_view> slice;
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < plan.missing.size(); ++i) {
      const std::string& part = plan.parts[plan.missing[i]];
      bytes += part.size();
      if (!slice.empty() && bytes > options_.slice_bytes) break;
      slice.push_back(part);
    }
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor vectors, inner_->Encode(slice));
    SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                           Halves(vectors, slice.size(), size));
    for (std::size_t i = 0; i < slice.size(); ++i) {
      const std::size_t part = plan.missing[begin + i];
      plan.embeddings[part] = store_->Insert(plan.keys[part], halves.subspan(i * size, size));
    }
    begin += slice.size();
    encoded_total_.Add(slice.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::Tensor> ChunkedEncoder::Encode(
    std::span<const std::string_view> texts) const {
  Plan plan(texts, options_.splitting, *store_);
  found_total_.Add(plan.parts.size() - plan.missing.size());
  SHOAL_RETURN_IF_ERROR(EncodeMissing(plan));
  const std::size_t size = store_->embedding_size();
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  std::span<std::uint16_t> rest = MutableHalves(vectors);
  std::vector<float> sum(size);
  std::size_t begin = 0;
  for (const std::size_t end : plan.ends) {
    const std::span<std::uint16_t> row = rest.first(size);
    rest = rest.subspan(size);
    if (end - begin == 1) {
      const Embedding& whole = plan.embeddings[plan.uses[begin].part];
      std::copy(whole->begin(), whole->end(), row.begin());
    } else {
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (std::size_t use = begin; use < end; ++use) {
        const auto [part, weight] = plan.uses[use];
        const std::vector<std::uint16_t>& values = *plan.embeddings[part];
        for (std::size_t i = 0; i < size; ++i) sum[i] += weight * runtime::FromHalf(values[i]);
      }
      WriteUnit(sum, row);
    }
    begin = end;
  }
  return vectors;
}

}  // namespace shoal::embedding
