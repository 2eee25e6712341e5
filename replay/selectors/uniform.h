// SPDX-License-Identifier: Apache-2.0
// This selector chooses every item with the same probability, with replacement. A choice
// takes constant time, the other calls that of a lookup: the last handle moves into the place of a
// removed one.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/random.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class Uniform final : public Selector {
 public:
  explicit Uniform(std::uint64_t seed) : random_(seed) {}

  void Insert(Handle handle, double) override {
    SHOAL_CHECK(places_.emplace(handle, handles_.size()).second);
    handles_.push_back(handle);
  }
  void Update(Handle, double) override {}
  void Remove(Handle handle) override {
    const auto found = places_.find(handle);
    SHOAL_CHECK(found != places_.end());
    const std::size_t place = found->second;
    places_.erase(found);
    const Handle last = handles_.back();
    handles_.pop_back();
    if (last == handle) return;
    handles_[place] = last;
    places_[last] = place;
  }
  Choice Sample() override {
    SHOAL_CHECK(!handles_.empty());
    return {.handle = handles_[random_.Below(handles_.size())],
            .probability = 1.0 / static_cast<double>(handles_.size())};
  }
  Mass mass() const override { return Mass::Equal(handles_.size()); }

 private:
  runtime::Random random_;
  std::vector<Handle> handles_;
  absl::btree_map<Handle, std::size_t> places_;
};

}  // namespace shoal::replay
