// SPDX-License-Identifier: Apache-2.0
// Memory for large arrays, which nothing touches before they are filled, and bytes that somebody
// keeps.
//
// The first touch of a page costs more than a copy of what it holds, and huge pages need fewer of
// them. So blocks of 2 MiB and more ask the kernel for huge pages, and a pool keeps blocks that
// were given back for whoever asks for as many bytes next. Thread-safe. All throw std::bad_alloc
// where there is no memory.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "platform/runtime/mutex.h"

namespace shoal::runtime {

// Bytes that are there as long as `owner` is.
struct SharedBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

// Returns `bytes` bytes, rounded up to a multiple of 4096, from a multiple of 4096 on. Their
// content is unknown.
std::shared_ptr<char> NewLargeMemory(std::size_t bytes);

// Copies `bytes` bytes that do not overlap, by up to `threads` threads at once, in parts of 4 MiB
// at least. It writes past the processor's caches, where it can, and so, unlike other copies, does
// not first read what it overwrites.
void CopyLarge(char* to, const char* from, std::size_t bytes, int threads);

class LargeMemoryPool {
 public:
  // The same from blocks of this size that were given back, if there are any. A block goes back
  // when its last owner lets go of it, or is freed where the pool has ended by then.
  std::shared_ptr<char> Take(std::size_t bytes);

 private:
  struct Kept {
    Mutex mutex;
    // By the number of bytes that were asked for.
    std::multimap<std::size_t, std::shared_ptr<char>> blocks ABSL_GUARDED_BY(mutex);
  };

  const std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace shoal::runtime
