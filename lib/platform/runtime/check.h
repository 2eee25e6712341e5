// SPDX-License-Identifier: Apache-2.0
// SHOAL_CHECK ends the process when it finds a bug of ours. Input from a peer, a file or a flag
// must never reach it: bad input gets an absl::Status.
#pragma once

namespace shoal::runtime {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace shoal::runtime

#define SHOAL_CHECK(expression)                                                        \
  do {                                                                                 \
    if (!(expression)) ::shoal::runtime::CheckFailed(#expression, __FILE__, __LINE__); \
  } while (false)
