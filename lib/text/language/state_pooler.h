// SPDX-License-Identifier: Apache-2.0
// The pooling of a state encoder for inference: hidden states in, latents out.
//
// Immutable; any thread may call it, though torch's own threads (rl/model/policy.h,
// SetTorchThreads) work best for one caller at a time. The other texts of a call change a latent
// only by rounding, and with slice_tokens = 1 and one thread of torch not at all.
#pragma once

#include <cstdint>
#include <memory>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/language/hidden_texts.h"
#include "text/language/state_folder.h"

namespace shoal::language {

struct StatePoolerOptions {
  // The hidden states, with padding, in one pass; a single text may exceed it. At least 1.
  std::int64_t slice_tokens = 4096;
};

class StatePooler {
 public:
  // Returns INVALID_ARGUMENT when a size does not fit the config.
  static absl::StatusOr<std::unique_ptr<StatePooler>> Create(const StateParameters& parameters,
                                                             const StatePoolerOptions& options);
  ~StatePooler();

  const StateConfig& config() const;

  // Returns one latent of length 1 for each text, [N, L] float32; zeros for a text without states.
  // Returns INVALID_ARGUMENT for states that do not fit, INTERNAL with torch's message or when a
  // latent is no finite number.
  absl::StatusOr<runtime::Tensor> Latents(const HiddenTexts& texts) const;

 private:
  struct State;
  explicit StatePooler(std::unique_ptr<const State> state);
  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::language
