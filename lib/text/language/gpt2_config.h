// SPDX-License-Identifier: Apache-2.0
// The sizes of a GPT-2, and Hugging Face's config.json that describes them.
//
// The architecture is that of Radford et al., "Language Models are Unsupervised Multitask
// Learners", 2019: learned positions, norms before each half of a block, GELU by tanh, output tied
// to the token embedding. Dropout is ignored: models are small relative to their data, or are
// fine-tuned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::language {

struct Gpt2Config {
  // The rows of the token embedding; ids are 0 to vocabulary_size - 1.
  std::int64_t vocabulary_size = 50257;
  // The length of the longest sequence.
  std::int64_t positions = 1024;
  // The length of a hidden state.
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  double norm_epsilon = 1e-5;
  // The ids that begin and end a text; -1 for none.
  std::int64_t begin_token = 50256;
  std::int64_t end_token = 50256;

  // Returns "tiny" (1.9 M parameters, its own vocabulary of 8,000), or one of OpenAI's models:
  // "small" (124 M), "medium" (355 M), "large" (774 M), "xl" (1.5 G). NOT_FOUND lists these names.
  static absl::StatusOr<Gpt2Config> Preset(std::string_view name);
  // Returns the names in the order of size.
  static std::vector<std::string_view> PresetNames();

  // Parses a config.json. Every error is INVALID_ARGUMENT and names `file` and the key or byte: a
  // size that is missing or out of range, or a value that would describe a different model
  // architecture. Unknown keys and keys that do not affect the computation are ignored.
  static absl::StatusOr<Gpt2Config> Parse(std::string_view json, const std::string& file);
  // Returns a config.json that Parse and transformers read.
  std::string ToJson() const;

  // Returns INVALID_ARGUMENT naming the key.
  absl::Status Validate() const;

  std::int64_t head_size() const { return width / heads; }
  // Returns the number of parameters.
  std::int64_t parameter_count() const;

  friend bool operator==(const Gpt2Config&, const Gpt2Config&) = default;
};

}  // namespace shoal::language
