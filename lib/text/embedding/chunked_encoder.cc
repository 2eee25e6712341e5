// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/chunked_encoder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/content/segments.h"
#include "text/embedding/unit_rows.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same segment vectors would give another vector.
constexpr int kAlgorithm = 1;

std::string_view CutAtCharacter(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  // A character has four bytes at most; text that is not UTF-8 is cut at `bytes`.
  for (std::size_t end = bytes; end + 3 >= bytes; --end) {
    if ((static_cast<std::uint8_t>(text[end]) & 0xC0) != 0x80) return text.substr(0, end);
  }
  return text.substr(0, bytes);
}

}  // namespace

// The distinct segments of a call, and the segments of each text.
struct ChunkedEncoder::Plan {
  Plan(std::span<const std::string_view> texts, EmbeddingStore& store) {
    std::unordered_map<content::ContentKey, std::size_t> known;
    for (const std::string_view text : texts) {
      for (const std::string_view segment :
           content::SplitSegments(CutAtCharacter(text, kMaxTextBytes), {})) {
        const auto [place, added] = known.emplace(content::KeyOf(segment), segments.size());
        if (added) {
          segments.push_back(segment);
          keys.push_back(place->first);
          embeddings.push_back(store.Find(place->first));
          if (embeddings.back() == nullptr) missing.push_back(place->second);
        }
        uses.push_back(place->second);
      }
      ends.push_back(uses.size());
    }
  }

  std::vector<std::string_view> segments;
  std::vector<content::ContentKey> keys;
  std::vector<Embedding> embeddings;
  // Indices of the segments to encode.
  std::vector<std::size_t> missing;
  // The texts' segments, one text after the other; text i ends before ends[i].
  std::vector<std::size_t> uses;
  std::vector<std::size_t> ends;
};

ChunkedEncoder::ChunkedEncoder(std::unique_ptr<tokens::TextEncoder> inner,
                               const ChunkedEncoderOptions& options, runtime::Metrics* metrics)
    : inner_(std::move(inner)),
      options_(options),
      version_(inner_->version() + "-chunked" + std::to_string(kAlgorithm)),
      store_(std::make_unique<EmbeddingStore>(
          inner_->version(), static_cast<std::size_t>(inner_->dimension()), options.cache_bytes)),
      found_total_(metrics, "shoal_embedding_chunks_found_total",
                   "Segments of texts whose vectors were in memory"),
      encoded_total_(metrics, "shoal_embedding_chunks_encoded_total",
                     "Segments of texts given to the language model or the file of vectors") {}

absl::Status ChunkedEncoder::EncodeMissing(Plan& plan) const {
  const std::size_t size = store_->embedding_size();
  for (std::size_t begin = 0; begin < plan.missing.size();) {
    std::vector<std::string_view> slice;
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < plan.missing.size(); ++i) {
      const std::string_view segment = plan.segments[plan.missing[i]];
      bytes += segment.size();
      if (!slice.empty() && bytes > options_.slice_bytes) break;
      slice.push_back(segment);
    }
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor vectors, inner_->Encode(slice));
    SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                           Halves(vectors, slice.size(), size));
    for (std::size_t i = 0; i < slice.size(); ++i) {
      const std::size_t segment = plan.missing[begin + i];
      plan.embeddings[segment] = store_->Insert(plan.keys[segment], halves.subspan(i * size, size));
    }
    begin += slice.size();
    encoded_total_.Add(slice.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::Tensor> ChunkedEncoder::Encode(
    std::span<const std::string_view> texts) const {
  Plan plan(texts, *store_);
  found_total_.Add(plan.segments.size() - plan.missing.size());
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
      const Embedding& whole = plan.embeddings[plan.uses[begin]];
      std::copy(whole->begin(), whole->end(), row.begin());
    } else {
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (std::size_t use = begin; use < end; ++use) {
        const std::size_t segment = plan.uses[use];
        const auto weight = static_cast<float>(plan.segments[segment].size());
        const std::vector<std::uint16_t>& values = *plan.embeddings[segment];
        for (std::size_t i = 0; i < size; ++i) sum[i] += weight * runtime::FromHalf(values[i]);
      }
      WriteUnit(sum, row);
    }
    begin = end;
  }
  return vectors;
}

}  // namespace shoal::embedding
