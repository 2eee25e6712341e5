// SPDX-License-Identifier: Apache-2.0
// SHOAL_CHECK ends the process on a bug of ours. Never reachable from a peer, a file or a flag:
// those get an absl::Status.
#pragma once

namespace shoal::runtime {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace shoal::runtime

#define SHOAL_CHECK(expression)                                                        \
  do {                                                                                 \
    if (!(expression)) ::shoal::runtime::CheckFailed(#expression, __FILE__, __LINE__); \
  } while (false)
