// SPDX-License-Identifier: Apache-2.0
// A counter that does nothing where there are no metrics. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "platform/runtime/metrics.h"

namespace shoal::embedding {

class OptionalCounter {
 public:
  // `metrics` may be null; otherwise it must outlive the counter.
  OptionalCounter(runtime::Metrics* metrics, const std::string& name, const std::string& help)
      : counter_(metrics == nullptr ? nullptr : &metrics->Counter(name, help)) {}

  void Add(std::size_t count) const {
    if (counter_ != nullptr && count > 0) counter_->Increment(static_cast<double>(count));
  }

 private:
  prometheus::Counter* const counter_;
};

}  // namespace shoal::embedding
