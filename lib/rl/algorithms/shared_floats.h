// SPDX-License-Identifier: Apache-2.0
// Numbers that do not change, wherever they lie: in a vector, in a pool's memory, in a file that
// was read. Copies share them. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shoal::algorithms {

class SharedFloats {
 public:
  SharedFloats() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a vector is what a caller without a file has.
  SharedFloats(std::vector<float> values) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
    values_ = *owner;
    owner_ = owner;
  }
  // `values` are there as long as `owner` is.
  SharedFloats(std::shared_ptr<const void> owner, std::span<const float> values)
      : owner_(std::move(owner)), values_(values) {}

  const float* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  friend bool operator==(const SharedFloats& a, const SharedFloats& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const float> values_;
};

}  // namespace shoal::algorithms
