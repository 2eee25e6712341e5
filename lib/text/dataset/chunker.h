// SPDX-License-Identifier: Apache-2.0
// Cuts the tokens of a resource into chunks, with their spans.
//
// Each chunk begins with the request line, where there is one, so that it can be read by itself;
// then come tokens of the body, of which each chunk shares `overlap` with the one before it. The
// last one ends with "<|endoftext|>", where that is a token. Spans are found on the whole body
// (json_spans.h) and cut where the chunk is.
//
// Not thread-safe: one a thread.
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

// Where in a text each of its tokens ends.

// For each of `ids`, which `tokenizer` made of `text`, the offset after its last byte; a token
// begins where the one before it ends. A normaliser may have put blanks in, or taken some out, and
// changed the case of letters: a blank that it put in has no bytes. FAILED_PRECONDITION naming the
// byte of `text` at which the tokens say something else.
absl::StatusOr<std::vector<std::size_t>> TokenEnds(const tokens::Tokenizer& tokenizer,
                                                   std::string_view text,
                                                   std::span<const std::int32_t> ids);

class Chunker {
 public:
  struct Options {
    // At least 16.
    std::int32_t chunk_tokens = 1024;
    // At least 0, less than half of chunk_tokens.
    std::int32_t overlap = 128;
  };

  // INVALID_ARGUMENT naming the option and its limit.
  static absl::StatusOr<std::unique_ptr<Chunker>> Create(
      std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options);

  // The chunks of one resource, in order; their captures are left to the caller. INVALID_ARGUMENT:
  // the request line takes more than half of a chunk. Otherwise of TokenEncoder::Encode and
  // TokenEnds.
  absl::StatusOr<std::vector<Chunk>> Cut(const ResourceText& text);

 private:
  Chunker(std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options);

  absl::StatusOr<std::vector<Span>> BodySpans(std::string_view body) const;
  Chunk CutOne(std::size_t begin, std::size_t end, std::span<const Span> spans) const;

  const std::shared_ptr<const tokens::Tokenizer> tokenizer_;
  const Options options_;
  const std::optional<std::int32_t> end_of_text_;
  // By id, whether it was added and is not special.
  std::vector<bool> is_added_;
  tokens::TokenEncoder encoder_;
  // The tokens of the resource that is being cut.
  std::vector<std::int32_t> request_;
  std::vector<std::int32_t> body_;
};

}  // namespace shoal::dataset
