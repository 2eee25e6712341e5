// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/packed_chunks.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::dataset {
namespace {

constexpr PackedChunks::Limits kSmallLimits{
    .chunk_tokens = 4, .vocabulary_size = 100, .captures = 2};

std::vector<Chunk> ThreeChunks() {
  return {{.tokens = {1, 2, 3},
           .spans = {{SpanKind::kResponse, 0, 3}, {SpanKind::kAddedToken, 1, 2}},
           .capture = 0},
          {.tokens = {99}, .spans = {}, .capture = 1},
          {.tokens = {0, 0, 0, 7}, .spans = {{SpanKind::kArray, 3, 4}}, .capture = 1}};
}

// Bytes at an address that is aligned for a view of them.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::string& bytes) : words_(bytes.size() / 8 + 1) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    view_ = {reinterpret_cast<const char*>(words_.data()), bytes.size()};
  }
  std::string_view view() const { return view_; }

 private:
  std::vector<std::uint64_t> words_;
  std::string_view view_;
};

std::string RefusalOf(const std::string& bytes) {
  const AlignedBytes aligned(bytes);
  const absl::Status status = PackedChunks::Parse(aligned.view(), kSmallLimits).status();
  REQUIRE(absl::IsDataLoss(status));
  return std::string(status.message());
}

template <typename T>
std::string With(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

}  // namespace

TEST_CASE("packed chunks are read as they were packed") {
  const std::vector<Chunk> chunks = ThreeChunks();
  const AlignedBytes bytes(PackChunks(chunks));
  const auto view = PackedChunks::Parse(bytes.view(), kSmallLimits);
  REQUIRE(view.ok());
  REQUIRE(view->size() == 3);
  REQUIRE(view->token_count() == 8);
  REQUIRE(view->span_count() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto tokens = view->tokens(i);
    const auto spans = view->spans(i);
    REQUIRE(std::vector<std::int32_t>(tokens.begin(), tokens.end()) == chunks[i].tokens);
    REQUIRE(std::vector<Span>(spans.begin(), spans.end()) == chunks[i].spans);
    REQUIRE(view->capture(i) == chunks[i].capture);
  }
}

TEST_CASE("no chunks at all are a file too") {
  const AlignedBytes bytes(PackChunks({}));
  REQUIRE(PackedChunks::Parse(bytes.view(), kSmallLimits)->size() == 0);
}

TEST_CASE("a packed file is refused with the byte at which it is wrong") {
  // 3 chunks, 8 tokens and 3 spans: ends from 32 and 56, captures from 80, zeros from 92, tokens
  // from 96, spans from 128.
  const std::string whole = PackChunks(ThreeChunks());
  REQUIRE(whole.size() == 164);
  REQUIRE(RefusalOf("").starts_with("byte 0: "));
  REQUIRE(RefusalOf(With(whole, 0, 'x')).starts_with("byte 0: "));
  REQUIRE(RefusalOf(whole.substr(0, 163)).starts_with("byte 8: "));
  REQUIRE(RefusalOf(whole + "x").starts_with("byte 8: "));
  REQUIRE(RefusalOf(With(whole, 8, ~std::uint64_t{0})).starts_with("byte 8: "));
  REQUIRE(RefusalOf(With(whole, 24, std::uint64_t{1} << 62)).starts_with("byte 8: "));
  REQUIRE(RefusalOf(With(whole, 40, std::uint64_t{3})).starts_with("byte 40: a chunk ends at 3"));
  REQUIRE(RefusalOf(With(whole, 40, std::uint64_t{9})).starts_with("byte 40: "));
  REQUIRE(RefusalOf(With(whole, 48, std::uint64_t{7})).starts_with("byte 32: chunks end at 7"));
  REQUIRE(RefusalOf(With(whole, 56, ~std::uint64_t{0})).starts_with("byte 56: "));
  REQUIRE(RefusalOf(With(whole, 84, std::uint32_t{2})).starts_with("byte 84: no capture"));
  REQUIRE(RefusalOf(With(whole, 93, 'x')).starts_with("byte 93: is not zero"));
  REQUIRE(RefusalOf(With(whole, 100, std::int32_t{-1})).starts_with("byte 100: -1 is no token"));
  REQUIRE(RefusalOf(With(whole, 100, std::int32_t{100})).starts_with("byte 100: 100 is no token"));
  REQUIRE(RefusalOf(With(whole, 130, 'x')).starts_with("byte 130: is not zero"));
  REQUIRE(RefusalOf(With(whole, 140, std::uint8_t{9})).starts_with("byte 140: is no span"));
  REQUIRE(RefusalOf(With(whole, 136, std::uint32_t{4})).starts_with("byte 128: is no span"));
  REQUIRE(RefusalOf(With(whole, 156, std::uint32_t{4})).starts_with("byte 152: is no span"));
}

TEST_CASE("a chunk longer than the manifest allows is refused") {
  const AlignedBytes bytes(PackChunks(ThreeChunks()));
  REQUIRE(absl::IsDataLoss(
      PackedChunks::Parse(bytes.view(), {.chunk_tokens = 3, .vocabulary_size = 100, .captures = 2})
          .status()));
}

}  // namespace shoal::dataset
