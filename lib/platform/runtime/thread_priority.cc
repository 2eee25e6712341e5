// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/thread_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shoal::runtime {

void SetThreadNice(int nice) {
  // Linux takes a thread's id where POSIX has a process's, and glibc has no call for it.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), nice);
}

}  // namespace shoal::runtime
