// SPDX-License-Identifier: Apache-2.0
// The options that jemalloc reads when a program with it starts (shoal_allocator in
// cmake/ShoalTargets.cmake).
//
// By default jemalloc gives each buffer of 8 MiB or more back to the system when it is freed. A
// learner frees such a buffer for each minibatch of frames and takes another one at once, and every
// page of that one would be faulted in anew. Without a threshold they are kept for some seconds, as
// smaller ones are.

extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:0";
}
