// SPDX-License-Identifier: Apache-2.0
// This selector always chooses the oldest item, or always the newest one, until it is removed.
// Handles ascend in order of insertion, so the order is that of an ordered set of handles.
#pragma once

#include <absl/container/btree_set.h>

#include <cstdint>

#include "platform/runtime/check.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class InsertionOrder final : public Selector {
 public:
  enum class End : std::uint8_t { kOldest, kNewest };

  explicit InsertionOrder(End end) : end_(end) {}

  void Insert(Handle handle, double) override { SHOAL_CHECK(handles_.insert(handle).second); }
  void Update(Handle, double) override {}
  void Remove(Handle handle) override { SHOAL_CHECK(handles_.erase(handle) == 1); }
  Choice Sample() override {
    SHOAL_CHECK(!handles_.empty());
    return {.handle = end_ == End::kOldest ? *handles_.begin() : *handles_.rbegin(),
            .probability = 1};
  }
  Mass mass() const override { return Mass::Equal(handles_.size()); }

 private:
  const End end_;
  absl::btree_set<Handle> handles_;
};

}  // namespace shoal::replay
