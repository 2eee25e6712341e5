// SPDX-License-Identifier: Apache-2.0
// Reads and writes a tokenizer as the JSON document of Hugging Face's `tokenizers`.
//
// The reader accepts what byte-level BPE needs:
//   model           BPE; merges as "a b" or ["a", "b"]; ignore_merges. No dropout, byte_fallback,
//                   continuing_subword_prefix or end_of_word_suffix; unk_token never applies, since
//                   every byte must be a token
//   added_tokens    all fields; each id must be the one that Hugging Face would give
//   normalizer      null, Sequence, Replace (Regex or String), Lowercase
//   pre_tokenizer   ByteLevel, or a Sequence of Split (Isolated or Removed, also inverted) that
//                   ends with it
//   post_processor  null or ByteLevel: it changes offsets, not ids
//   decoder         ByteLevel
//   truncation, padding  null
// Anything else is an error. pattern.h describes the accepted regular expressions.
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

// Reads `node`, {token: id, ...}, and fills `texts`, by id.
absl::StatusOr<IdByText> ReadVocabulary(const content::JsonNode& node,
                                        std::vector<std::string>& texts);

// The error names only the missing token.
absl::StatusOr<MergeRule> ResolveMerge(const std::string& left, const std::string& right,
                                       const IdByText& ids);
// Parses `text`, "left right". The error does not name a place.
absl::StatusOr<MergeRule> ParseMerge(std::string_view text, const IdByText& ids);

// Reads `node`, the `model` of a tokenizer.json, into the fields of `parts` that belong to a model.
absl::Status ReadBpeModel(const content::JsonNode& node, Tokenizer::Parts& parts);

// Reads `node`, the `added_tokens` of a tokenizer.json; a null is an empty list.
absl::StatusOr<std::vector<AddedToken>> ReadAddedTokens(const content::JsonNode& node);

// INVALID_ARGUMENT names `file` and either the byte that is not JSON, or the JSON Pointer of a
// value that is unsupported or contradictory.
absl::StatusOr<std::shared_ptr<const Tokenizer>> ParseTokenizerJson(std::string_view json,
                                                                    const std::string& file);

// Returns the document. Tokenizers with equal parts give the same bytes.
std::string TokenizerJson(const Tokenizer& tokenizer);

// Tokenizers on disk.
//
// Errors name the file: NOT_FOUND when it is absent, INVALID_ARGUMENT when it is malformed or has
// unsupported content (see above), RESOURCE_EXHAUSTED when it exceeds kMaximumTokenizerFile.
inline constexpr std::size_t kMaximumTokenizerFile = std::size_t{1} << 28;

// Loads a tokenizer.json, or a folder with that file or with one of the pairs encoder.json and
// vocab.bpe, vocab.json and merges.txt.
absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadTokenizer(const std::string& path);

// Loads OpenAI's two files: tokens with their ids as one JSON object, and merges by rank, two
// tokens in each line, after an optional line "#version: ...". If "<|endoftext|>" is a token, it
// becomes a special added token.
absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadGpt2Files(const std::string& vocabulary_path,
                                                               const std::string& merges_path);

// Writes a tokenizer.json. Returns the errors of runtime::WriteFileAtomically.
absl::Status SaveTokenizer(const Tokenizer& tokenizer, const std::string& path);

}  // namespace shoal::tokens
