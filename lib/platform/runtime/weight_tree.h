// SPDX-License-Identifier: Apache-2.0
// A binary tree over weights, in double precision, that knows their sum and the least of them, and
// finds the weight at which a running sum passes a given mass.
//
// Every inner node is computed anew from its two children when a weight below it changes, so
// rounding errors do not add up: the sum depends on the present weights alone, never on how they
// came about. Changes and searches take time logarithmic in the number of weights. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "platform/runtime/check.h"

namespace shoal::runtime {

class WeightTree {
 public:
  std::size_t size() const { return size_; }
  double sum() const { return nodes_[1].sum; }
  // Returns the least weight above 0, or infinity if there is none.
  double least() const { return nodes_[1].least; }
  // REQUIRES: place < size().
  double at(std::size_t place) const { return nodes_[leaves_ + place].sum; }

  // Appends a weight. REQUIRES: `weight` is finite and at least 0.
  void Append(double weight) {
    if (size_ == leaves_) Grow();
    Write(size_++, weight);
  }
  // REQUIRES: place < size(); `weight` is finite and at least 0.
  void Set(std::size_t place, double weight) {
    SHOAL_CHECK(place < size_);
    Write(place, weight);
  }
  // Removes the last weight. REQUIRES: size() > 0.
  void RemoveLast() {
    SHOAL_CHECK(size_ > 0);
    Write(--size_, 0);
  }
  // Returns the first place up to which the weights add up to more than `mass`, and never one with
  // weight 0. REQUIRES: sum() > 0 and mass >= 0.
  std::size_t Find(double mass) const {
    SHOAL_CHECK(sum() > 0);
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      const double left = nodes_[node].sum;
      // Rounding may leave more mass than there is, and must not lead to an empty subtree.
      const bool go_left = nodes_[node + 1].sum <= 0 || (left > 0 && mass < left);
      if (go_left) continue;
      mass -= left;
      ++node;
    }
    return node - leaves_;
  }

 private:
  struct Node {
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
  };

  static Node Leaf(double weight) {
    return {.sum = weight, .least = weight > 0 ? weight : Node().least};
  }
  void Write(std::size_t place, double weight) {
    std::size_t node = leaves_ + place;
    nodes_[node] = Leaf(weight);
    for (node /= 2; node > 0; node /= 2) Combine(node);
  }
  void Combine(std::size_t node) {
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    nodes_[node] = {.sum = left.sum + right.sum, .least = std::min(left.least, right.least)};
  }
  void Grow() {
    std::vector<Node> wider(4 * leaves_);
    std::copy(nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_), nodes_.end(),
              wider.begin() + static_cast<std::ptrdiff_t>(2 * leaves_));
    nodes_ = std::move(wider);
    leaves_ *= 2;
    for (std::size_t node = leaves_ - 1; node > 0; --node) Combine(node);
  }

  // A power of two. The leaves begin at nodes_[leaves_], and the root is nodes_[1].
  std::size_t leaves_ = 2;
  std::size_t size_ = 0;
  std::vector<Node> nodes_ = std::vector<Node>(4);
};

}  // namespace shoal::runtime
