// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace shoal::runtime {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

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
