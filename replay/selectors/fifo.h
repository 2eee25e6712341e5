// SPDX-License-Identifier: Apache-2.0
// This selector always chooses the oldest item, until it is removed. Every call takes constant
// time.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <list>

#include "platform/runtime/check.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class Fifo final : public Selector {
 public:
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
    return {.handle = order_.front(), .probability = 1};
  }

 private:
  std::list<Handle> order_;
  absl::flat_hash_map<Handle, std::list<Handle>::iterator> places_;
};

}  // namespace shoal::replay
