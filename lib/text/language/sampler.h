// SPDX-License-Identifier: Apache-2.0
// Which token follows, given its logits: greedy, or drawn by temperature, top-k and top-p.
//
// In transformers' order: what the mask forbids is out first, then the temperature, then top-k
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
  // Logits are divided by it; 0: greedy, the lowest id among equals, and the rest does not matter.
  double temperature = 0;
  // Only the k most probable, and what ties with the last of them; 0: all.
  std::int64_t top_k = 0;
  // Only the most probable that together reach p, at least one; 1: all.
  double top_p = 1;

  // INVALID_ARGUMENT naming the option: negative, not finite, or top_p not within 0 and 1.
  absl::Status Validate() const;
};

// The chosen id; -1 when the mask allows none. NaN logits count as forbidden. A draw uses one
// number of `random`, greedy none. REQUIRES: options are valid, the mask has the logits' size.
std::int64_t ChooseToken(std::span<const float> logits, const TokenMask& mask,
                         const SamplerOptions& options, runtime::Random& random);

}  // namespace shoal::language
