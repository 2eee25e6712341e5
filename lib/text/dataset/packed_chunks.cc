// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/packed_chunks.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace shoal::dataset {

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(Span) == 12 && offsetof(Span, begin) == 4 && offsetof(Span, end) == 8);

namespace {

constexpr std::string_view kMagic = "shoalds1";
constexpr std::uint64_t kHeaderBytes = 32;

std::uint64_t Aligned(std::uint64_t offset) { return (offset + 7) & ~std::uint64_t{7}; }

absl::Status WrongAt(std::uint64_t offset, const std::string& why) {
  return runtime::DataLoss("byte " + std::to_string(offset) + ": " + why);
}

template <typename T>
void AppendValue(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendPadding(std::string& bytes) { bytes.resize(Aligned(bytes.size()), '\0'); }

// Checks that each end exceeds the previous one by `least` to `most`, and that the last is `total`.
absl::Status RequireEnds(std::span<const std::uint64_t> ends, std::uint64_t least,
                         std::uint64_t most, std::uint64_t total, std::uint64_t offset) {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] < before || ends[i] > total || ends[i] - before < least ||
        ends[i] - before > most) {
      return WrongAt(offset + 8 * i, "a chunk ends at " + std::to_string(ends[i]) + " after " +
                                         std::to_string(before) + " of " + std::to_string(total));
    }
    before = ends[i];
  }
  if (before == total) return absl::OkStatus();
  return WrongAt(offset,
                 "chunks end at " + std::to_string(before) + " of " + std::to_string(total));
}

}  // namespace

// The offsets of the parts of a file with these counts.
class PackedChunks::Layout {
 public:
  // REQUIRES: bytes.size() >= kHeaderBytes.
  explicit Layout(std::string_view bytes) : bytes_(bytes) {
    std::memcpy(&chunks_, bytes.data() + 8, 8);
    std::memcpy(&tokens_, bytes.data() + 16, 8);
    std::memcpy(&spans_, bytes.data() + 24, 8);
  }

  // True when the counts are small enough that no sum below overflows.
  bool Plausible() const {
    return chunks_ <= bytes_.size() && tokens_ <= bytes_.size() && spans_ <= bytes_.size();
  }
  std::uint64_t tokens() const { return tokens_; }
  std::uint64_t spans() const { return spans_; }
  std::uint64_t token_ends_at() const { return kHeaderBytes; }
  std::uint64_t span_ends_at() const { return kHeaderBytes + 8 * chunks_; }
  std::uint64_t captures_at() const { return kHeaderBytes + 16 * chunks_; }
  std::uint64_t captures_end() const { return captures_at() + 4 * chunks_; }
  std::uint64_t tokens_at() const { return Aligned(captures_end()); }
  std::uint64_t tokens_end() const { return tokens_at() + 4 * tokens_; }
  std::uint64_t spans_at() const { return Aligned(tokens_end()); }
  std::uint64_t size() const { return spans_at() + sizeof(Span) * spans_; }

  PackedChunks View() const {
    PackedChunks view;
    view.token_ends_ = At<std::uint64_t>(token_ends_at(), chunks_);
    view.span_ends_ = At<std::uint64_t>(span_ends_at(), chunks_);
    view.captures_ = At<std::uint32_t>(captures_at(), chunks_);
    view.tokens_ = At<std::int32_t>(tokens_at(), tokens_);
    view.spans_ = At<Span>(spans_at(), spans_);
    return view;
  }

  // Checks that the bytes between parts and within spans are zero.
  absl::Status RequireZeros() const {
    SHOAL_RETURN_IF_ERROR(RequireZeros(captures_end(), tokens_at()));
    SHOAL_RETURN_IF_ERROR(RequireZeros(tokens_end(), spans_at()));
    for (std::uint64_t at = spans_at(); at < size(); at += sizeof(Span)) {
      SHOAL_RETURN_IF_ERROR(RequireZeros(at + 1, at + 4));
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  std::span<const T> At(std::uint64_t offset, std::uint64_t count) const {
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }
  absl::Status RequireZeros(std::uint64_t begin, std::uint64_t end) const {
    const std::size_t found = bytes_.substr(begin, end - begin).find_first_not_of('\0');
    if (found == std::string_view::npos) return absl::OkStatus();
    return WrongAt(begin + found, "is not zero");
  }

  const std::string_view bytes_;
  std::uint64_t chunks_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint64_t spans_ = 0;
};

absl::StatusOr<PackedChunks> PackedChunks::Parse(std::string_view bytes, const Limits& limits) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return WrongAt(0, "is not the start of a file of chunks");
  }
  const Layout layout(bytes);
  if (!layout.Plausible() || layout.size() != bytes.size()) {
    return WrongAt(
        8, "the counts are not those of a file of " + std::to_string(bytes.size()) + " bytes");
  }
  SHOAL_RETURN_IF_ERROR(layout.RequireZeros());
  const PackedChunks view = layout.View();
  SHOAL_RETURN_IF_ERROR(RequireEnds(view.token_ends_, 1, limits.chunk_tokens, layout.tokens(),
                                    layout.token_ends_at()));
  SHOAL_RETURN_IF_ERROR(
      RequireEnds(view.span_ends_, 0, layout.spans(), layout.spans(), layout.span_ends_at()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view.captures_[i] >= limits.captures) {
      return WrongAt(layout.captures_at() + 4 * i,
                     "no capture has the number " + std::to_string(view.captures_[i]));
    }
  }
  for (std::size_t i = 0; i < view.tokens_.size(); ++i) {
    if (view.tokens_[i] < 0 || view.tokens_[i] >= limits.vocabulary_size) {
      return WrongAt(layout.tokens_at() + 4 * i, std::to_string(view.tokens_[i]) +
                                                     " is no token of " +
                                                     std::to_string(limits.vocabulary_size));
    }
  }
  for (std::size_t chunk = 0; chunk < view.size(); ++chunk) {
    const std::size_t tokens = view.tokens(chunk).size();
    const std::span<const Span> spans = view.spans(chunk);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Span& span = spans[i];
      if (static_cast<std::size_t>(span.kind) >= kSpanKinds || span.begin >= span.end ||
          span.end > tokens || (i > 0 && !(spans[i - 1] < span))) {
        const auto at =
            static_cast<std::uint64_t>(reinterpret_cast<const char*>(&span) - bytes.data());
        return WrongAt(
            at, "is no span of a chunk of " + std::to_string(tokens) + " tokens, or out of order");
      }
    }
  }
  return view;
}

std::string PackChunks(std::span<const Chunk> chunks) {
  std::uint64_t tokens = 0;
  std::uint64_t spans = 0;
  std::string ends;
  std::string span_ends;
  for (const Chunk& chunk : chunks) {
    AppendValue(ends, tokens += chunk.tokens.size());
    AppendValue(span_ends, spans += chunk.spans.size());
  }
  std::string bytes(kMagic);
  AppendValue(bytes, std::uint64_t{chunks.size()});
  AppendValue(bytes, tokens);
  AppendValue(bytes, spans);
  bytes += ends;
  bytes += span_ends;
  for (const Chunk& chunk : chunks) AppendValue(bytes, chunk.capture);
  AppendPadding(bytes);
  for (const Chunk& chunk : chunks) {
    bytes.append(reinterpret_cast<const char*>(chunk.tokens.data()), 4 * chunk.tokens.size());
  }
  AppendPadding(bytes);
  for (const Chunk& chunk : chunks) {
    for (const Span& span : chunk.spans) {
      AppendValue(bytes, static_cast<std::uint32_t>(span.kind));
      AppendValue(bytes, span.begin);
      AppendValue(bytes, span.end);
    }
  }
  return bytes;
}

}  // namespace shoal::dataset
