// SPDX-License-Identifier: Apache-2.0
// This selector prefers recent items: it chooses the newer of two items that are drawn uniformly,
// with replacement. So the item that is the r-th oldest of N has the probability (2r - 1) / N^2,
// and the newest is chosen almost twice as often as the mean.
//
// Every call takes time logarithmic in the number of items.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/random.h"
#include "platform/runtime/weight_tree.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class Recency final : public Selector {
 public:
  explicit Recency(std::uint64_t seed) : random_(seed) {}

  void Insert(Handle handle, double) override {
    SHOAL_CHECK(places_.emplace(handle, order_.size()).second);
    order_.push_back(handle);
    present_.Append(1);
  }
  void Update(Handle, double) override {}
  void Remove(Handle handle) override {
    const auto found = places_.find(handle);
    SHOAL_CHECK(found != places_.end());
    present_.Set(found->second, 0);
    places_.erase(found);
    if (order_.size() > kFewest && order_.size() > 2 * places_.size()) Compact();
  }
  Choice Sample() override {
    const std::size_t size = places_.size();
    SHOAL_CHECK(size > 0);
    const std::uint64_t rank = std::max(random_.Below(size), random_.Below(size));
    const auto count = static_cast<double>(size);
    return {.handle = order_[present_.Find(static_cast<double>(rank))],
            .probability = (2 * static_cast<double>(rank) + 1) / (count * count)};
  }
  Mass mass() const override {
    // The weight of the r-th oldest of N is (2r - 1) / N, so that the mean is 1.
    const auto size = static_cast<double>(places_.size());
    return {.size = places_.size(), .sum = size, .least = size > 0 ? 1 / size : 0};
  }

 private:
  static constexpr std::size_t kFewest = 64;

  // Leaves out the places of removed items.
  void Compact() {
    std::vector<Handle> kept;
    runtime::WeightTree present;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      if (!(present_.at(place) > 0)) continue;
      places_[order_[place]] = kept.size();
      kept.push_back(order_[place]);
      present.Append(1);
    }
    order_ = std::move(kept);
    present_ = std::move(present);
  }

  runtime::Random random_;
  // Oldest first, with the handles of removed items between.
  std::vector<Handle> order_;
  // 1 for each handle of `order_` that is in, and 0 for each that was removed.
  runtime::WeightTree present_;
  absl::flat_hash_map<Handle, std::size_t> places_;
};

}  // namespace shoal::replay
