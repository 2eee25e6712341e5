// SPDX-License-Identifier: Apache-2.0
// `encoder tokenizer train|extend|show|encode`: makes tokenizers, and shows what they do.
//
// A tokenizer is named by its tokenizer.json, or by a folder (text/bpe/tokenizer_json.h). Errors
// name the file. The output ends with one line that sums up.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "platform/runtime/status.h"

namespace shoal::encoder {

struct TrainTokenizerOptions {
  // Capture archives or folders. Each resource's canonical JSON is a text, without volatile
  // members.
  std::vector<std::string> captures = {};
  // Files of any bytes. Each is a text.
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

// Adds tokens for the captures' own names where that pays (text/bpe/token_harvest.h), and prints
// how much shorter it makes the captures.
absl::Status ExtendTokenizer(const ExtendTokenizerOptions& options, std::ostream& out);

struct ShowTokenizerOptions {
  std::string tokenizer = "data/gpt2";
  // Ids of the tokens to show. Empty shows only the summary.
  std::vector<std::int32_t> ids = {};
  // Whether to show all added tokens, too.
  bool added = false;
};

absl::Status ShowTokenizer(const ShowTokenizerOptions& options, std::ostream& out);

struct EncodeTextOptions {
  std::string tokenizer = "data/gpt2";
  std::string text = {};
  // A file whose bytes are encoded instead of `text`.
  std::string file = {};
};

// Prints a line for each token with its id and text, then the number of tokens, and whether they
// decode to the same bytes.
absl::Status EncodeText(const EncodeTextOptions& options, std::ostream& out);

// The flags of `encoder tokenizer`.
//
// Adds `tokenizer` with its commands to `app`. Parsing one sets `action`. `app` and `action` must
// outlive the parsing and the call of `action`.
void AddTokenizerCommands(CLI::App& app, Action& action);

}  // namespace shoal::encoder
