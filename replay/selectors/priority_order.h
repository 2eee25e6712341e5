// SPDX-License-Identifier: Apache-2.0
// This selector always chooses an item of the lowest priority, or always one of the highest, and of
// several such items the oldest. Changes take time logarithmic in the number of items.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <set>
#include <utility>

#include "platform/runtime/check.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class PriorityOrder final : public Selector {
 public:
  enum class End : std::uint8_t { kLowest, kHighest };

  explicit PriorityOrder(End end) : sign_(end == End::kLowest ? 1 : -1) {}

  void Insert(Handle handle, double priority) override {
    SHOAL_CHECK(priorities_.emplace(handle, priority).second);
    order_.emplace(sign_ * priority, handle);
  }
  void Update(Handle handle, double priority) override {
    double& kept = priorities_.at(handle);
    order_.erase({sign_ * kept, handle});
    kept = priority;
    order_.emplace(sign_ * priority, handle);
  }
  void Remove(Handle handle) override {
    const auto found = priorities_.find(handle);
    SHOAL_CHECK(found != priorities_.end());
    order_.erase({sign_ * found->second, handle});
    priorities_.erase(found);
  }
  Choice Sample() override {
    SHOAL_CHECK(!order_.empty());
    return {.handle = order_.begin()->second, .probability = 1};
  }
  Mass mass() const override { return Mass::Equal(order_.size()); }

 private:
  const double sign_;
  std::set<std::pair<double, Handle>> order_;
  absl::flat_hash_map<Handle, double> priorities_;
};

}  // namespace shoal::replay
