// SPDX-License-Identifier: Apache-2.0
// Stops torch's exceptions: whatever a call throws becomes a Status.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::model {

// The kept length of an exception's text; torch appends a stack trace to the first sentence.
inline constexpr std::size_t kMaximumErrorText = 300;

// Returns what `call` returns (a Status or StatusOr), or INTERNAL "<what>: <error>" if it throws.
template <typename Call>
auto GuardTorch(const char* what, const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& error) {
    return runtime::Internal(std::string(what) + ": " +
                             std::string(error.what()).substr(0, kMaximumErrorText));
  }
}

}  // namespace shoal::model
