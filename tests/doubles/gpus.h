// SPDX-License-Identifier: Apache-2.0
// Two GPUs in the memory of the host, for tests without any: the functions of CUDA and NCCL that
// nccl_reducer.cc calls. A program that links gpus.cc calls these and not the libraries'.
//
// They are stricter than the libraries: memory, streams and communicators of a GPU are refused
// while CUDA has another device for the thread. A sum is ready when all ranks of the process have
// asked for it. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>

namespace shoal::doubles {

inline constexpr int kGpus = 2;

// Queues work on a GPU's default stream. Each question whether an event behind it has come runs it
// once more, until it returns that it is done.
void QueueOnGpu(int gpu, std::function<bool()> work);
// Forgets what is still queued. REQUIRES: nobody asks meanwhile.
void ForgetQueued(int gpu);

// Whether copies from the GPU's memory to the host's begin and do not end.
void HangCopies(int gpu, bool hang);

// How many bytes have gone from the host's memory to that of GPUs so far, or back.
std::size_t BytesOverTheBus();
// How many allocations the GPU has that were not freed.
std::size_t AllocationsOn(int gpu);

}  // namespace shoal::doubles
