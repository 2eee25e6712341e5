// SPDX-License-Identifier: Apache-2.0
// Where torch's exceptions end: whatever it throws becomes a Status.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::model {

// Of what an exception says; torch puts a stack trace behind its first sentence.
inline constexpr std::size_t kMaximumErrorText = 300;

// What `call` returns, a Status or a StatusOr; INTERNAL "<what>: <what was thrown>" when it throws.
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
