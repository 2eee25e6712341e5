// SPDX-License-Identifier: Apache-2.0
// `encoder tokenizer train|extend|show|encode`: makes tokenizers, and shows what they do.
//
// A tokenizer is named by its tokenizer.json, or by a folder (text/bpe/tokenizer_json.h). Errors
// name the file. What is printed ends with one line that sums up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::encoder {

struct TrainTokenizerOptions {
  // Capture archives or folders: a text is a resource's canonical JSON, without what is volatile.
  std::vector<std::string> captures = {};
  // Files of any bytes, a text each.
  std::vector<std::string> texts = {};
  std::string output = {};
  std::int32_t vocabulary_size = 8192;
  std::int64_t minimum_count = 2;
  bool split_camel_case = false;
  bool lower_case = false;
};

// Trains a vocabulary on all texts and writes it as tokenizer.json.
absl::Status TrainTokenizer(const TrainTokenizerOptions& options, std::ostream& out);

struct ExtendTokenizerOptions {
  std::string tokenizer = "data/gpt2";
  std::vector<std::string> captures = {};
  std::string output = {};
  std::int64_t minimum_count = 8;
  std::size_t minimum_length = 3;
  std::size_t limit = 1024;
};

// Adds tokens that the captures' own names make worth having (tokens/token_harvest.h), and says how
// much shorter that makes the captures.
absl::Status ExtendTokenizer(const ExtendTokenizerOptions& options, std::ostream& out);

struct ShowTokenizerOptions {
  std::string tokenizer = "data/gpt2";
  // These tokens, by id; none: only the summary.
  std::vector<std::int32_t> ids = {};
  // All added tokens, too.
  bool added = false;
};

absl::Status ShowTokenizer(const ShowTokenizerOptions& options, std::ostream& out);

struct EncodeTextOptions {
  std::string tokenizer = "data/gpt2";
  std::string text = {};
  // Instead of `text`: the bytes of this file.
  std::string file = {};
};

// A line a token: id and text; then how many there are, and whether they decode to the same bytes.
absl::Status EncodeText(const EncodeTextOptions& options, std::ostream& out);

}  // namespace shoal::encoder
