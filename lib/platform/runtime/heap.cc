// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/heap.h"

#include <malloc.h>

namespace shoal::runtime {

void UseOneHeap() { ::mallopt(M_ARENA_MAX, 1); }

void KeepFreedMemory() {
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // The largest that there can be.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace shoal::runtime
