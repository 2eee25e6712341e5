// SPDX-License-Identifier: Apache-2.0
// Cuts the tokens of a resource into chunks with their spans.
//
// Each chunk begins with the request line, if there is one, so that it can be read by itself.
// Tokens of the body follow; each chunk shares `overlap` of them with the previous chunk. The last
// chunk ends with "<|endoftext|>", if that is a token. Spans are found on the whole body
// (json_spans.h) and cut at the chunk's edges.
//
// Not thread-safe: use one for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer.h"
#include "text/dataset/packed_chunks.h"
#include "text/dataset/resource_text.h"

namespace shoal::dataset {

// The place in a text where each of its tokens ends.

// Returns, for each of the `ids` that `tokenizer` made of `text`, the offset after its last byte; a
// token begins where the previous one ends. A normaliser may have inserted or removed spaces and
// changed the case of letters; an inserted space has no bytes. FAILED_PRECONDITION names the byte
// of `text` at which the tokens differ from it otherwise.
absl::StatusOr<std::vector<std::size_t>> TokenEnds(const tokens::Tokenizer& tokenizer,
                                                   std::string_view text,
                                                   std::span<const std::int32_t> ids);

class Chunker {
 public:
  struct Options {
    // The minimum is 16.
    std::int32_t chunk_tokens = 1024;
    // At least 0, and less than half of chunk_tokens.
    std::int32_t overlap = 128;
  };

  // Returns INVALID_ARGUMENT naming the option and its limit.
  static absl::StatusOr<std::unique_ptr<Chunker>> Create(
      std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options);

  // Returns the chunks of one resource, in order; the caller sets their captures. INVALID_ARGUMENT
  // when the request line takes more than half of a chunk. Otherwise returns the errors of
  // TokenEncoder::Encode and TokenEnds.
  absl::StatusOr<std::vector<Chunk>> Cut(const ResourceText& text);

 private:
  Chunker(std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options);

  absl::StatusOr<std::vector<Span>> BodySpans(std::string_view body) const;
  Chunk CutOne(std::size_t begin, std::size_t end, std::span<const Span> spans) const;

  const std::shared_ptr<const tokens::Tokenizer> tokenizer_;
  const Options options_;
  const std::optional<std::int32_t> end_of_text_;
  // By id, whether the token was added and is not special.
  std::vector<bool> is_added_;
  tokens::TokenEncoder encoder_;
  // The tokens of the current resource.
  std::vector<std::int32_t> request_;
  std::vector<std::int32_t> body_;
};

}  // namespace shoal::dataset
