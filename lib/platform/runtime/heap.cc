// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/heap.h"

#include <malloc.h>

namespace shoal::runtime {

void UseOneHeap() { ::mallopt(M_ARENA_MAX, 1); }

}  // namespace shoal::runtime
