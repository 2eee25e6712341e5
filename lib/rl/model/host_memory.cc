// SPDX-License-Identifier: Apache-2.0
#include "rl/model/host_memory.h"

#include <ATen/Context.h>
#include <c10/core/Allocator.h>

#include <cstddef>
#include <unordered_map>
#include <utility>

#include "platform/runtime/mutex.h"

namespace shoal::model {
namespace {

class PinnedMemory final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    c10::DataPtr held;
    try {
      held = at::globalContext().getPinnedMemoryAllocator(at::kCUDA)->allocate(bytes);
    } catch (const c10::Error&) {
      return std::pmr::get_default_resource()->allocate(bytes, alignment);
    }
    void* const address = held.get();
    const runtime::MutexLock lock(mutex_);
    held_.emplace(address, std::move(held));
    return address;
  }
  void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override {
    c10::DataPtr released;
    {
      const runtime::MutexLock lock(mutex_);
      const auto found = held_.find(address);
      if (found != held_.end()) {
        released = std::move(found->second);
        held_.erase(found);
        return;
      }
    }
    std::pmr::get_default_resource()->deallocate(address, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  runtime::Mutex mutex_;
  std::unordered_map<void*, c10::DataPtr> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::pmr::memory_resource* HostMemoryFor(const ComputeDevice& device) {
  if (device.name == "cpu") return std::pmr::get_default_resource();
  // It outlives all static objects, which may hold such memory.
  static auto* const pinned = new PinnedMemory();
  return pinned;
}

}  // namespace shoal::model
