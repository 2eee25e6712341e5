// SPDX-License-Identifier: Apache-2.0
// This selector always chooses the oldest item, or always the newest one, until it is removed.
// Every call takes constant time.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <list>

#include "platform/runtime/check.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class InsertionOrder final : public Selector {
 public:
  enum class End : std::uint8_t { kOldest, kNewest };

  explicit InsertionOrder(End end) : end_(end) {}

  void Insert(Handle handle, double) override {
    const auto place = order_.insert(order_.end(), handle);
    SHOAL_CHECK(places_.emplace(handle, place).second);
  }
  void Update(Handle, double) override {}
  void Remove(Handle handle) override {
    const auto found = places_.find(handle);
    SHOAL_CHECK(found != places_.end());
    order_.erase(found->second);
    places_.erase(found);
  }
  Choice Sample() override {
    SHOAL_CHECK(!order_.empty());
    return {.handle = end_ == End::kOldest ? order_.front() : order_.back(), .probability = 1};
  }
  Mass mass() const override { return Mass::Equal(order_.size()); }

 private:
  const End end_;
  std::list<Handle> order_;
  absl::flat_hash_map<Handle, std::list<Handle>::iterator> places_;
};

}  // namespace shoal::replay
