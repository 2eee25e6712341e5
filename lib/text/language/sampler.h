// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from its logits: greedily, or by sampling with temperature, top-k and
// top-p.
//
// The order is that of transformers: the mask is applied first, then the temperature, then top-k
// (Fan et al., "Hierarchical Neural Story Generation", 2018), then top-p (Holtzman et al., "The
// Curious Case of Neural Text Degeneration", 2020).
#pragma once

#include <cstdint>
#include <span>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "text/language/token_filter.h"

namespace shoal::language {

struct SamplerOptions {
  // Logits are divided by this. 0 means greedy: the lowest id among equals; the other options are
  // ignored.
  double temperature = 0;
  // Keeps only the k most probable tokens, and those that tie with the last of them; 0 keeps all.
  std::int64_t top_k = 0;
  // Keeps only the most probable tokens that together reach p, at least one; 1 keeps all.
  double top_p = 1;

  // Returns INVALID_ARGUMENT naming an option that is negative, not finite, or a top_p above 1.
  absl::Status Validate() const;
};

// Returns the chosen id, or -1 when the mask allows none. NaN logits count as forbidden. Sampling
// uses one number of `random`, greedy choice none. REQUIRES: options are valid; the mask has the
// logits' size.
std::int64_t ChooseToken(std::span<const float> logits, const TokenMask& mask,
                         const SamplerOptions& options, runtime::Random& random);

}  // namespace shoal::language
