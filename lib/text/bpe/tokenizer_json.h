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

#include "platform/runtime/status.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

// Values of a JSON document with their JSON Pointers, read with errors that name them.
//
// Every error is INVALID_ARGUMENT and begins with the pointer. The document must outlive its nodes.
struct JsonNode {
  const nlohmann::json* value;
  std::string pointer;

  // A null for a member that is missing.
  JsonNode At(const std::string& key) const;
  // REQUIRES: an array that has it.
  JsonNode At(std::size_t index) const;

  // The error that this value is wrong: the pointer and `why`, e.g. "is no list".
  absl::Status Wrong(const std::string& why) const;

  absl::StatusOr<std::string> String() const;
  // `missing` for null.
  absl::StatusOr<bool> Bool(bool missing) const;
  // At least 0 and below 2^30.
  absl::StatusOr<std::int32_t> Id() const;
  // The member "type" of an object.
  absl::StatusOr<std::string> Type() const;
  // The member `key`, an array.
  absl::StatusOr<JsonNode> List(const std::string& key) const;

  absl::Status RequireNull() const;
  // Null counts, here and below.
  absl::Status RequireFalse() const;
  absl::Status RequireEmptyString() const;
};

// INVALID_ARGUMENT naming the byte at which `text` is no JSON, or that it nests too deep.
absl::StatusOr<nlohmann::json> ParseJsonDocument(std::string_view text);

// The model of byte-pair encoding in a JSON document: tokens with their ids, and merges by rank.
//
// Every error is INVALID_ARGUMENT and, unless said otherwise, begins with a JSON Pointer.
using IdByText = absl::flat_hash_map<std::string, std::int32_t>;

// `node`: {token: id, ...}. Fills `texts`, by id.
absl::StatusOr<IdByText> ReadVocabulary(const JsonNode& node, std::vector<std::string>& texts);

// Names the token that is missing, and nothing else.
absl::StatusOr<MergeRule> ResolveMerge(const std::string& left, const std::string& right,
                                       const IdByText& ids);
// `text`: "left right". The error names no place.
absl::StatusOr<MergeRule> ParseMerge(std::string_view text, const IdByText& ids);

// `node`: the `model` of a tokenizer.json. Fills what `parts` has of a model.
absl::Status ReadBpeModel(const JsonNode& node, Tokenizer::Parts& parts);

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
