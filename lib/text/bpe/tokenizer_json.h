// SPDX-License-Identifier: Apache-2.0
// A tokenizer as the JSON document that Hugging Face's `tokenizers` reads and writes.
//
// Read is what byte-level BPE needs:
//   model           BPE; merges as "a b" or ["a", "b"]; ignore_merges. No dropout, byte_fallback,
//                   continuing_subword_prefix or end_of_word_suffix; unk_token never applies, since
//                   every byte must be a token
//   added_tokens    all fields; each id must be the one that Hugging Face would give
//   normalizer      null, Sequence, Replace (Regex or String), Lowercase
//   pre_tokenizer   ByteLevel, or a Sequence of Split (Isolated or Removed, also inverted) that
//                   ends with it
//   post_processor  null or ByteLevel: it moves offsets, not ids
//   decoder         ByteLevel
//   truncation, padding  null
// Anything else is an error, not a guess. Regular expressions: pattern.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

// INVALID_ARGUMENT naming `file` and the byte that is no JSON, or the JSON Pointer of what is not
// supported or contradicts itself.
absl::StatusOr<std::shared_ptr<const Tokenizer>> ParseTokenizerJson(std::string_view json,
                                                                    const std::string& file);

// The same bytes for tokenizers that encode and decode alike by the same parts.
std::string TokenizerJson(const Tokenizer& tokenizer);

}  // namespace shoal::tokens
