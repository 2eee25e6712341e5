// SPDX-License-Identifier: Apache-2.0
// The hidden states of several texts in one array.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::language {

// Plain values. A text without tokens has no states.
struct HiddenTexts {
  runtime::Tensor states = runtime::Tensor(runtime::DType::kFloat32, {0, 0});  // [T, D]
  std::vector<std::int64_t> starts = {
      0};  // [N + 1]; text n has the rows [starts[n], starts[n + 1])

  std::int64_t texts() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t length(std::int64_t text) const {
    const auto at = static_cast<std::size_t>(text);
    return starts[at + 1] - starts[at];
  }
  // Returns INVALID_ARGUMENT unless `states` is float32 [T, width] and `starts` ascends from 0 to
  // T.
  absl::Status Validate(std::int64_t width) const;
};

}  // namespace shoal::language
