// SPDX-License-Identifier: Apache-2.0
// The sizes of a BERT, and Hugging Face's config.json that describes them.
//
// The architecture is that of Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers
// for Language Understanding", 2018: learned positions, norms after each half of a block, GELU.
// Dropout is ignored, since these models only infer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::language {

struct BertConfig {
  // The rows of the token embedding; ids are 0 to vocabulary_size - 1.
  std::int64_t vocabulary_size = 30522;
  // The length of the longest sequence.
  std::int64_t positions = 512;
  // The rows of the embedding of sentence types, of which only the first is used.
  std::int64_t types = 2;
  // The length of a hidden state.
  std::int64_t width = 768;
  // The length of a block's inner state.
  std::int64_t inner = 3072;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  double norm_epsilon = 1e-12;

  // Parses a config.json. Every error is INVALID_ARGUMENT and names `file` and the key or byte: a
  // size that is missing or out of range, or a value that would describe a different model
  // architecture. Unknown keys and keys that do not affect the computation are ignored.
  static absl::StatusOr<BertConfig> Parse(std::string_view json, const std::string& file);
  // Returns a text that differs when any size does.
  std::string ToJson() const;

  // Returns INVALID_ARGUMENT naming the key.
  absl::Status Validate() const;

  friend bool operator==(const BertConfig&, const BertConfig&) = default;
};

}  // namespace shoal::language
