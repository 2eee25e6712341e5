// SPDX-License-Identifier: Apache-2.0
// This selector chooses an item i with the probability p_i^alpha / sum_k p_k^alpha, with
// replacement, where p is the priority (Schaul et al. 2016, Prioritized Experience Replay,
// equation 1). alpha 0 makes all items equal, also those of priority 0.
//
// An item of priority 0 is chosen only if all are of priority 0, and then all are equally likely.
// Every call takes time logarithmic in the number of items.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/random.h"
#include "platform/runtime/weight_tree.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class Prioritized final : public Selector {
 public:
  Prioritized(double exponent, std::uint64_t seed) : exponent_(exponent), random_(seed) {}

  void Insert(Handle handle, double priority) override {
    SHOAL_CHECK(places_.emplace(handle, handles_.size()).second);
    handles_.push_back(handle);
    weights_.Append(Weight(priority));
  }
  void Update(Handle handle, double priority) override {
    weights_.Set(places_.at(handle), Weight(priority));
  }
  void Remove(Handle handle) override {
    const auto found = places_.find(handle);
    SHOAL_CHECK(found != places_.end());
    const std::size_t place = found->second;
    places_.erase(found);
    const Handle last = handles_.back();
    if (last != handle) {
      handles_[place] = last;
      places_[last] = place;
      weights_.Set(place, weights_.at(handles_.size() - 1));
    }
    handles_.pop_back();
    weights_.RemoveLast();
  }
  Choice Sample() override {
    SHOAL_CHECK(!handles_.empty());
    const double sum = weights_.sum();
    if (!(sum > 0)) {
      return {.handle = handles_[random_.Below(handles_.size())],
              .probability = 1.0 / static_cast<double>(handles_.size())};
    }
    const std::size_t place = weights_.Find(random_.Uniform() * sum);
    return {.handle = handles_[place], .probability = weights_.at(place) / sum};
  }
  Mass mass() const override {
    const bool some = weights_.sum() > 0;
    return {.size = handles_.size(), .sum = weights_.sum(), .least = some ? weights_.least() : 0.0};
  }

 private:
  double Weight(double priority) const { return std::pow(priority, exponent_); }

  const double exponent_;
  runtime::Random random_;
  std::vector<Handle> handles_;
  absl::flat_hash_map<Handle, std::size_t> places_;
  runtime::WeightTree weights_;
};

}  // namespace shoal::replay
