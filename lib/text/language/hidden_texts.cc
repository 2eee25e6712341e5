// SPDX-License-Identifier: Apache-2.0
#include "text/language/hidden_texts.h"

#include <algorithm>

namespace shoal::language {

absl::Status HiddenTexts::Validate(std::int64_t width) const {
  const bool fits = states.dtype() == runtime::DType::kFloat32 && states.shape().size() == 2 &&
                    states.shape()[1] == width && !starts.empty() && starts.front() == 0 &&
                    starts.back() == states.shape()[0] && std::ranges::is_sorted(starts);
  if (fits) return absl::OkStatus();
  return runtime::InvalidArgument("hidden states of shape " + runtime::ToString(states.shape()) +
                                  " are not those of " + std::to_string(texts()) +
                                  " texts with width " + std::to_string(width));
}

}  // namespace shoal::language
