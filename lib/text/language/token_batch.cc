// SPDX-License-Identifier: Apache-2.0
#include "text/language/token_batch.h"

#include <string>

#include "platform/runtime/check.h"

namespace shoal::language {

void TokenBatch::Append(std::span<const std::int32_t> sequence) {
  SHOAL_CHECK(attended.empty());
  ids.insert(ids.end(), sequence.begin(), sequence.end());
  starts.push_back(tokens());
}

std::int64_t TokenBatch::length(std::int64_t sequence) const {
  const auto s = static_cast<std::size_t>(sequence);
  return starts[s + 1] - starts[s];
}

TokenBatch TokenBatch::Slice(std::int64_t first, std::int64_t last) const {
  const std::int64_t begin = starts[static_cast<std::size_t>(first)];
  const std::int64_t end = starts[static_cast<std::size_t>(last)];
  TokenBatch slice;
  slice.ids.assign(ids.begin() + begin, ids.begin() + end);
  if (!attended.empty()) slice.attended.assign(attended.begin() + begin, attended.begin() + end);
  slice.starts.clear();
  for (std::int64_t s = first; s <= last; ++s) {
    slice.starts.push_back(starts[static_cast<std::size_t>(s)] - begin);
  }
  return slice;
}

absl::Status TokenBatch::Validate(const Gpt2Config& config) const {
  return Validate(config.vocabulary_size, config.positions);
}

absl::Status TokenBatch::Validate(std::int64_t vocabulary_size, std::int64_t positions) const {
  if (starts.empty() || starts.front() != 0 || starts.back() != tokens()) {
    return runtime::InvalidArgument("token batch: starts do not span the ids");
  }
  if (!attended.empty() && attended.size() != ids.size()) {
    return runtime::InvalidArgument("token batch: attended has another size than ids");
  }
  for (std::int64_t s = 0; s < sequences(); ++s) {
    if (length(s) < 1 || length(s) > positions) {
      return runtime::InvalidArgument("token batch: sequence " + std::to_string(s) + " of " +
                                      std::to_string(length(s)) + " tokens; the model takes 1 to " +
                                      std::to_string(positions));
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocabulary_size) {
      return runtime::InvalidArgument("token batch: id " + std::to_string(ids[i]) + " at " +
                                      std::to_string(i) + "; the vocabulary has " +
                                      std::to_string(vocabulary_size));
    }
  }
  return absl::OkStatus();
}

std::vector<std::int64_t> Cuts(const TokenBatch& batch, std::int64_t max_tokens) {
  std::vector<std::int64_t> cuts = {0};
  std::int64_t tokens = 0;
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    if (tokens > 0 && tokens + batch.length(s) > max_tokens) {
      cuts.push_back(s);
      tokens = 0;
    }
    tokens += batch.length(s);
  }
  if (batch.sequences() > 0) cuts.push_back(batch.sequences());
  return cuts;
}

}  // namespace shoal::language
