// SPDX-License-Identifier: Apache-2.0
// How the C library's allocator shares memory among the threads of a process, and what it keeps.
// Call these before any thread exists. They do nothing in a process that has another allocator
// (shoal_allocator).
#pragma once

namespace shoal::runtime {

// Makes all threads allocate from one heap. Otherwise the C library gives threads heaps of their
// own, and memory that one thread allocates and another frees goes back to the heap that it came
// from, where other threads cannot use it. A process whose threads pass large buffers on and keep
// some of them for long then holds much more memory than it uses.
void UseOneHeap();

// Keeps up to 256 MiB at the end of a heap that were freed, and takes buffers below 32 MiB from
// heaps. Otherwise the C library gives the end of a heap back to the system once 128 KiB of it are
// free, and maps large buffers one by one. A process that allocates buffers and frees them all the
// time then gets each page of them anew, which costs as much as to copy it. Heaps of buffers of
// many sizes that live for long can become larger by it.
void KeepFreedMemory();

}  // namespace shoal::runtime
