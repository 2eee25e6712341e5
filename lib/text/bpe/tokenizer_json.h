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

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/json_node.h"
#include "platform/runtime/status.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

// The model of byte-pair encoding in a JSON document: tokens with their ids, and merges by rank.
//
// Every error is INVALID_ARGUMENT and, unless said otherwise, begins with a JSON Pointer.
using IdByText = absl::flat_hash_map<std::string, std::int32_t>;

// `node`: {token: id, ...}. Fills `texts`, by id.
absl::StatusOr<IdByText> ReadVocabulary(const content::JsonNode& node,
                                        std::vector<std::string>& texts);

// Names the token that is missing, and nothing else.
absl::StatusOr<MergeRule> ResolveMerge(const std::string& left, const std::string& right,
                                       const IdByText& ids);
// `text`: "left right". The error names no place.
absl::StatusOr<MergeRule> ParseMerge(std::string_view text, const IdByText& ids);

// `node`: the `model` of a tokenizer.json. Fills what `parts` has of a model.
absl::Status ReadBpeModel(const content::JsonNode& node, Tokenizer::Parts& parts);

// INVALID_ARGUMENT naming `file` and the byte that is no JSON, or the JSON Pointer of what is not
// supported or contradicts itself.
absl::StatusOr<std::shared_ptr<const Tokenizer>> ParseTokenizerJson(std::string_view json,
                                                                    const std::string& file);

// The same bytes for tokenizers that encode and decode alike by the same parts.
std::string TokenizerJson(const Tokenizer& tokenizer);

// Tokenizers on disk.
//
// Errors name the file. NOT_FOUND: it is not there. INVALID_ARGUMENT: it is malformed or states
// what is not supported (tokenizer_json.h). RESOURCE_EXHAUSTED: larger than kMaximumTokenizerFile.
inline constexpr std::size_t kMaximumTokenizerFile = std::size_t{1} << 28;

// Of a tokenizer.json, or of a folder with that file, or else with one of the pairs encoder.json
// and vocab.bpe, vocab.json and merges.txt.
absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadTokenizer(const std::string& path);

// Of OpenAI's two files: tokens with their ids as one JSON object, and merges by rank, two tokens a
// line, after an optional line "#version: ...". "<|endoftext|>", if it is a token, is found in
// texts and special.
absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadGpt2Files(const std::string& vocabulary_path,
                                                               const std::string& merges_path);

// As tokenizer.json. Errors: of runtime::WriteFileAtomically.
absl::Status SaveTokenizer(const Tokenizer& tokenizer, const std::string& path);

}  // namespace shoal::tokens
