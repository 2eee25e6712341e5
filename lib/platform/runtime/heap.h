// SPDX-License-Identifier: Apache-2.0
// How the C library's allocator shares memory among the threads of a process.
#pragma once

namespace shoal::runtime {

// Makes all threads allocate from one heap. Otherwise the C library gives threads heaps of their
// own, and memory that one thread allocates and another frees goes back to the heap that it came
// from, where other threads cannot use it. A process whose threads pass large buffers on and keep
// some of them for long then holds much more memory than it uses. Call it before any thread
// exists. It does nothing in a process that has another allocator (shoal_allocator).
void UseOneHeap();

}  // namespace shoal::runtime
