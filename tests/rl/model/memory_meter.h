// SPDX-License-Identifier: Apache-2.0
// What torch allocates on one thread.
//
//   const auto meter = std::make_shared<model::MemoryMeter>();
//   const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shoal::model {

// Adds up what is allocated and freed.
class MemoryMeter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*pointer*/, std::int64_t size, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device /*device*/) override {
    now_ += size;
    peak_ = std::max(peak_, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t now() const { return now_; }
  std::int64_t peak() const { return peak_; }

 private:
  std::int64_t now_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace shoal::model
