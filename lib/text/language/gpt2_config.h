// SPDX-License-Identifier: Apache-2.0
// What a GPT-2 is made of, and Hugging Face's config.json that says so.
//
// The architecture: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019;
// learned positions, norms before each half of a block, GELU by tanh, output tied to the token
// embedding. Dropout is read by nobody here: models are small beside their data or fine-tuned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::language {

struct Gpt2Config {
  // Rows of the token embedding: ids are 0 to vocabulary_size - 1.
  std::int64_t vocabulary_size = 50257;
  // The longest sequence.
  std::int64_t positions = 1024;
  // Numbers in a hidden state.
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  double norm_epsilon = 1e-5;
  // Which ids begin and end a text; -1: none.
  std::int64_t begin_token = 50256;
  std::int64_t end_token = 50256;

  // "tiny" (1.9 M parameters, its own vocabulary of 8,000), "small" (124 M), "medium" (355 M),
  // "large" (774 M), "xl" (1.5 G): the last four are OpenAI's. NOT_FOUND, naming those that exist.
  static absl::StatusOr<Gpt2Config> Preset(std::string_view name);
  // In the order of their sizes.
  static std::vector<std::string_view> PresetNames();

  // A config.json. Every error is INVALID_ARGUMENT and names `file` and the key or byte: a size
  // that is missing or out of range, or a value of a key that would make another model than this
  // one. Keys that change nothing in what is computed, and unknown ones, are passed over.
  static absl::StatusOr<Gpt2Config> Parse(std::string_view json, const std::string& file);
  // What Parse and transformers read.
  std::string ToJson() const;

  // INVALID_ARGUMENT naming the key.
  absl::Status Validate() const;

  std::int64_t head_size() const { return width / heads; }
  // Number of parameters.
  std::int64_t parameter_count() const;

  friend bool operator==(const Gpt2Config&, const Gpt2Config&) = default;
};

}  // namespace shoal::language
