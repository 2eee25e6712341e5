// SPDX-License-Identifier: Apache-2.0
// Runs a batch slice by slice, on torch's threads.
//
// This header shows torch and is for this folder. On a CPU several slices run at once, each on one
// of torch's threads, since two threads hardly speed up small matrices.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/Device.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/language/token_batch.h"

namespace shoal::language {

// Calls run(first sequence, last sequence) for slices of whole sequences that make up the batch,
// each with at most `slice_tokens` tokens or of one sequence. REQUIRES: slice_tokens >= 1; the
// caller is in torch's inference mode; calls of `run` may overlap.
template <typename Run>
void RunSlices(const TokenBatch& batch, at::Device device, std::int64_t slice_tokens,
               const Run& run) {
  // There are enough slices for threads to end at about the same time, and none is so small that
  // calls cost more than the work.
  constexpr std::int64_t kSlicesPerThread = 4;
  constexpr std::int64_t kMinSlice = 256;
  const std::int64_t threads = device.is_cpu() ? at::get_num_threads() : 1;
  const std::int64_t share = batch.tokens() / (threads * kSlicesPerThread);
  const std::vector<std::int64_t> cuts =
      Cuts(batch, threads == 1 ? slice_tokens : std::min(slice_tokens, std::max(share, kMinSlice)));
  const std::size_t count = cuts.size() - 1;
  if (static_cast<std::int64_t>(count) < threads || threads == 1) {
    for (std::size_t i = 0; i < count; ++i) run(cuts[i], cuts[i + 1]);
    return;
  }
  // Relaxed order is enough, since it only hands out numbers.
  std::atomic<std::size_t> next{0};
  at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
    const c10::InferenceMode mode;
    for (;;) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      run(cuts[i], cuts[i + 1]);
    }
  });
}

}  // namespace shoal::language
