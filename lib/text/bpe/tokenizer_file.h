// SPDX-License-Identifier: Apache-2.0
// Tokenizers on disk.
//
// Errors name the file. NOT_FOUND: it is not there. INVALID_ARGUMENT: it is malformed or states
// what is not supported (tokenizer_json.h). RESOURCE_EXHAUSTED: larger than kMaximumTokenizerFile.
#pragma once

#include <memory>
#include <string>

#include "platform/runtime/status.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

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
