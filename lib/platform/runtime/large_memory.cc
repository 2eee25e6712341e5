// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/large_memory.h"

#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/runtime/thread.h"

namespace shoal::runtime {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kLeastPartBytes = std::size_t{4} << 20;

// Copies past the caches. memcpy does so only for more bytes than a share of the last cache, which
// may be hundreds of megabytes.
void StreamCopy(char* to, const char* from, std::size_t bytes) {
#ifdef __SSE2__
  constexpr std::size_t kVector = sizeof(__m128i);
  constexpr std::size_t kLine = 4 * kVector;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(to) % kVector;
  if (bytes >= before + kLine) {
    std::memcpy(to, from, before);
    std::size_t at = before;
    for (; at + kLine <= bytes; at += kLine) {
      const auto* const read = reinterpret_cast<const __m128i*>(from + at);
      auto* const write = reinterpret_cast<__m128i*>(to + at);
      const __m128i lanes[] = {_mm_loadu_si128(read), _mm_loadu_si128(read + 1),
                               _mm_loadu_si128(read + 2), _mm_loadu_si128(read + 3)};
      for (std::size_t i = 0; i < 4; ++i) _mm_stream_si128(write + i, lanes[i]);
    }
    // Other threads see streamed bytes only behind a fence.
    _mm_sfence();
    std::memcpy(to + at, from + at, bytes - at);
    return;
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

std::shared_ptr<char> NewLargeMemory(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const bool huge = bytes >= kHugePageBytes;
  const std::size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  void* block = nullptr;
  const int error =
      ::posix_memalign(&block, huge ? kHugePageBytes : kPageBytes, rounded > 0 ? rounded : 1);
  if (error != 0) throw std::bad_alloc();
  // Where the kernel has none, pages are small.
  if (huge) ::madvise(block, rounded, MADV_HUGEPAGE);
  return {static_cast<char*>(block), [](char* memory) { std::free(memory); }};
}

void CopyLarge(char* to, const char* from, std::size_t bytes, int threads) {
  const std::size_t parts = std::clamp<std::size_t>(bytes / kLeastPartBytes, 1,
                                                    static_cast<std::size_t>(std::max(threads, 1)));
  const std::size_t share = (bytes + parts - 1) / parts;
  const std::size_t part = (share + kPageBytes - 1) / kPageBytes * kPageBytes;
  std::vector<Thread> others;
  others.reserve(parts);
  for (std::size_t at = part; at < bytes; at += part) {
    const auto copy = [to, from, at, length = std::min(part, bytes - at)] {
      StreamCopy(to + at, from + at, length);
    };
    try {
      others.emplace_back("copy", copy);
    } catch (const std::system_error&) {
      // The system has no thread left.
      copy();
    }
  }
  StreamCopy(to, from, std::min(part, bytes));
}

std::shared_ptr<char> LargeMemoryPool::Take(std::size_t bytes) {
  std::shared_ptr<char> block;
  {
    const MutexLock lock(kept_->mutex);
    if (const auto found = kept_->blocks.find(bytes); found != kept_->blocks.end()) {
      block = std::move(found->second);
      kept_->blocks.erase(found);
    }
  }
  if (block == nullptr) block = NewLargeMemory(bytes);
  char* const begin = block.get();
  const std::weak_ptr<Kept> pool = kept_;
  return {begin, [pool, bytes, block = std::move(block)](char*) mutable {
            const std::shared_ptr<Kept> kept = pool.lock();
            if (kept == nullptr) return;
            const MutexLock lock(kept->mutex);
            kept->blocks.emplace(bytes, std::move(block));
          }};
}

}  // namespace shoal::runtime
