// SPDX-License-Identifier: Apache-2.0
// The sizes of a state encoder: what pools the hidden states of a language model into one latent.
//
// The hidden states [T, width] pass `layers` convolutions, each of which halves T, and become a
// latent of `latent` numbers (state_network.h). Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::language {

struct StateConfig {
  // The language model beneath, as the knob `encoder` names it: "gpt2:<preset or folder>",
  // "sentence" or "sentence:<folder>".
  std::string base;
  // Identifies its parameters and tokenizer; another model's hidden states mean nothing here.
  std::string base_version;
  // The number of blocks of the base before the hidden states; 0 means its embeddings.
  std::int64_t layer = 4;
  // D: the length of a hidden state of the base.
  std::int64_t width = 128;
  // C: the length of a state between the convolutions.
  std::int64_t channels = 128;
  // The tokens that a convolution sees at once; odd.
  std::int64_t kernel = 5;
  std::int64_t layers = 2;
  // L: the length of a latent.
  std::int64_t latent = 128;

  // B: the hidden states that the decoder reconstructs, each the mean over a part of the text.
  std::int64_t bins() const { return std::int64_t{2} << layers; }

  // Parses a config.json. Every error is INVALID_ARGUMENT and names `file` and the key or byte.
  static absl::StatusOr<StateConfig> Parse(std::string_view json, const std::string& file);
  // Returns a config.json that Parse reads.
  std::string ToJson() const;

  // Returns INVALID_ARGUMENT naming the key.
  absl::Status Validate() const;

  friend bool operator==(const StateConfig&, const StateConfig&) = default;
};

}  // namespace shoal::language
