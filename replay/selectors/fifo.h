// SPDX-License-Identifier: Apache-2.0
// The oldest item first, again and again until it is removed.
#pragma once

#include <set>

#include "platform/runtime/check.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class Fifo final : public Selector {
 public:
  void Insert(Handle handle, double) override { SHOAL_CHECK(handles_.insert(handle).second); }
  void Remove(Handle handle) override { SHOAL_CHECK(handles_.erase(handle) == 1); }
  Choice Select() override {
    SHOAL_CHECK(!handles_.empty());
    return {.handle = *handles_.begin(), .probability = 1};
  }

 private:
  std::set<Handle> handles_;
};

}  // namespace shoal::replay
