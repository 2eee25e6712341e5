// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/open_files.h"

#include <sys/resource.h>

namespace shoal::runtime {

void AllowAllOpenFiles() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace shoal::runtime
