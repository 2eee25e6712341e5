// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/check.h"

#include <cstdio>
#include <cstdlib>

namespace shoal::runtime {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
  std::abort();
}

}  // namespace shoal::runtime
