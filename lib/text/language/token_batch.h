// SPDX-License-Identifier: Apache-2.0
// Texts of unequal lengths as one array of token ids, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "platform/runtime/status.h"
#include "text/language/gpt2_config.h"

namespace shoal::language {

// T tokens in S sequences. A sequence attends only to itself, so the rest of the batch changes its
// results only by rounding.
struct TokenBatch {
  std::vector<std::int32_t> ids;           // [T]
  std::vector<std::int64_t> starts = {0};  // [S + 1]; sequence s is [starts[s], starts[s + 1])
  // [T], 1 where later tokens of the sequence may attend to this token; empty for all. A token
  // always attends to itself.
  std::vector<std::uint8_t> attended;

  // REQUIRES: `attended` is empty.
  void Append(std::span<const std::int32_t> sequence);

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids.size()); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t length(std::int64_t sequence) const;
  // Returns the sequences [first, last), with starts from 0.
  TokenBatch Slice(std::int64_t first, std::int64_t last) const;

  // Returns INVALID_ARGUMENT naming the sequence or token: ids outside the vocabulary, sequences
  // that are empty or longer than the model's positions, sizes that do not fit.
  absl::Status Validate(std::int64_t vocabulary_size, std::int64_t positions) const;
  absl::Status Validate(const Gpt2Config& config) const;
};

// Returns where to cut a batch so that no slice has more than `max_tokens`, except slices of a
// single sequence: sequence numbers from 0 to sequences(), ascending. REQUIRES: max_tokens >= 1.
std::vector<std::int64_t> Cuts(const TokenBatch& batch, std::int64_t max_tokens);

}  // namespace shoal::language
