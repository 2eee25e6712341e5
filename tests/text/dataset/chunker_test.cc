// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/chunker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/bpe/tokenizer_trainer.h"

namespace shoal::dataset {
namespace {

using tokens::Tokenizer;

std::shared_ptr<const Tokenizer> Bytes() {
  auto trainer = tokens::TokenizerTrainer::Create({.vocabulary_size = 257}).value();
  return trainer.Train({}).value();
}

std::string TextOf(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  return tokenizer.Decode(ids).value();
}

// Returns the texts of the spans of a kind, one after the other.
std::vector<std::string> SpanTexts(const Tokenizer& tokenizer, const Chunk& chunk, SpanKind kind) {
  std::vector<std::string> texts;
  for (const Span& span : chunk.spans) {
    if (span.kind != kind) continue;
    texts.push_back(
        TextOf(tokenizer, std::span(chunk.tokens).subspan(span.begin, span.end - span.begin)));
  }
  return texts;
}

const ResourceText kResource = {.request = "GET /a [GET]\n",
                                .body = R"({"@odata.id":"/redfish/v1/a","b":[1,2]})"};

}  // namespace

TEST_CASE("a short resource is one chunk: request, answer, end of text") {
  const auto tokenizer = Bytes();
  const auto chunks = Chunker::Create(tokenizer, {}).value()->Cut(kResource).value();
  REQUIRE(chunks.size() == 1);
  REQUIRE(TextOf(*tokenizer, chunks[0].tokens) ==
          kResource.request + kResource.body + std::string(tokens::kEndOfText));
  REQUIRE(SpanTexts(*tokenizer, chunks[0], SpanKind::kResponse) ==
          std::vector<std::string>{kResource.body + std::string(tokens::kEndOfText)});
  REQUIRE(std::is_sorted(chunks[0].spans.begin(), chunks[0].spans.end()));
}

TEST_CASE("without a request line all of a chunk is the answer") {
  const auto tokenizer = Bytes();
  const auto chunks = Chunker::Create(tokenizer, {}).value()->Cut({.body = "{}"}).value();
  REQUIRE(chunks[0].spans[0] == Span{SpanKind::kResponse, 0, 3});
}

TEST_CASE("chunks of a long resource overlap, and each begins with the request line") {
  const auto tokenizer = Bytes();
  const auto chunker = Chunker::Create(tokenizer, {.chunk_tokens = 32, .overlap = 5}).value();
  const auto chunks = chunker->Cut(kResource).value();
  REQUIRE(chunks.size() > 2);
  std::string joined;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::string text = TextOf(*tokenizer, chunks[i].tokens);
    REQUIRE(chunks[i].tokens.size() <= 32);
    REQUIRE((i + 1 == chunks.size() || chunks[i].tokens.size() == 32));
    REQUIRE(text.starts_with(kResource.request));
    const std::string body = text.substr(kResource.request.size());
    if (i > 0) REQUIRE(joined.ends_with(body.substr(0, 5)));
    joined += body.substr(i == 0 ? 0 : 5);
  }
  REQUIRE(joined == kResource.body + std::string(tokens::kEndOfText));
}

TEST_CASE("a chunk has the part of a span that it holds") {
  const auto tokenizer = Bytes();
  const auto chunker = Chunker::Create(tokenizer, {.chunk_tokens = 32, .overlap = 0}).value();
  const auto chunks = chunker->Cut(kResource).value();
  std::string uri;
  for (const Chunk& chunk : chunks) {
    for (const std::string& part : SpanTexts(*tokenizer, chunk, SpanKind::kODataId)) uri += part;
    for (const Span& span : chunk.spans) {
      REQUIRE(span.begin < span.end);
      REQUIRE(span.end <= chunk.tokens.size());
    }
  }
  REQUIRE(uri == "/redfish/v1/a");
}

TEST_CASE("tokens that were added are spans, special ones are not") {
  const auto tokenizer =
      Bytes()
          ->Extend({{.content = "/redfish/v1/a"}, {.content = "<|pad|>", .special = true}})
          .value();
  const auto chunker = Chunker::Create(tokenizer, {}).value();
  const auto chunks = chunker
                          ->Cut({.request = "GET /redfish/v1/a []\n",
                                 .body = R"({"@odata.id":"/redfish/v1/a","b":"<|pad|>"})"})
                          .value();
  REQUIRE(SpanTexts(*tokenizer, chunks[0], SpanKind::kAddedToken) ==
          std::vector<std::string>{"/redfish/v1/a", "/redfish/v1/a"});
  REQUIRE(SpanTexts(*tokenizer, chunks[0], SpanKind::kApiPrefix) ==
          std::vector<std::string>{"/redfish/v1/a"});
}

TEST_CASE("chunks too short for their options are refused with the limit") {
  const auto tokenizer = Bytes();
  const auto refusal = [&](const Chunker::Options& options) {
    const absl::Status status = Chunker::Create(tokenizer, options).status();
    REQUIRE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  REQUIRE(refusal({.chunk_tokens = 15, .overlap = 0}).find("shorter than 16") != std::string::npos);
  REQUIRE(refusal({.chunk_tokens = 20, .overlap = 10}).find("half a chunk, 10") !=
          std::string::npos);
  REQUIRE_FALSE(refusal({.chunk_tokens = 20, .overlap = -1}).empty());
  const auto chunker = Chunker::Create(tokenizer, {.chunk_tokens = 16, .overlap = 0}).value();
  const absl::Status status = chunker->Cut(kResource).status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(std::string(status.message()).find("13 tokens, more than half") != std::string::npos);
}

}  // namespace shoal::dataset
