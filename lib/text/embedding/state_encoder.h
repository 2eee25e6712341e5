// SPDX-License-Identifier: Apache-2.0
// Vectors of a state encoder: the latent that a trained pooling makes of the hidden states of a
// language model (language/state_pooler.h), rounded to half precision.
//
// `encoder train-state` trains the pooling as the bottleneck of an auto-encoder. Where the mean of
// hidden states says what a text is about, the latent was also trained to tell apart the states of
// one resource. Time and memory are proportional to the number of tokens; ChunkedEncoder bounds the
// length of a text. A text without tokens is the zero vector. The batch changes results only by
// rounding, and with slice_tokens = 1 and one thread of torch not at all. Thread-safe, though torch
// works best when one thread at a time uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/embedding/language_states.h"
#include "text/language/state_folder.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

class StateEncoder final : public tokens::TextEncoder {
 public:
  // Returns FAILED_PRECONDITION when `parameters` were trained on another base than `states`.
  static absl::StatusOr<std::unique_ptr<StateEncoder>> Create(
      std::unique_ptr<const LanguageStates> states, const language::StateParameters& parameters,
      std::int64_t slice_tokens);
  ~StateEncoder() override;

  // Returns "state-<16 hex digits>", a hash of everything that determines a vector: the algorithm,
  // the config, the parameters and the base's version.
  const std::string& version() const override;
  // Returns L.
  std::int64_t dimension() const override;
  // Returns the errors of LanguageStates::Of and language::StatePooler::Latents.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit StateEncoder(std::unique_ptr<const State> state);

  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::embedding
