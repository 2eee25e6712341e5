// SPDX-License-Identifier: Apache-2.0
// Tells, while a backward pass runs, which gradients are complete.
//
// This header shows torch. Between two backward passes it belongs to one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace shoal::training {

class GradientWatch {
 public:
  using Complete = std::function<void(std::size_t group)>;

  // In the backward pass that follows, `complete` is called once for each group of leaves when all
  // of them have got their gradients, by the thread that runs the pass. What it throws ends the
  // pass. A group is not reported where it is empty or a leaf gets no gradient. REQUIRES: the
  // leaves require gradients, are in one group each, and no other watch has them.
  GradientWatch(std::vector<std::vector<at::Tensor>> groups, Complete complete);
  GradientWatch(const GradientWatch&) = delete;
  GradientWatch& operator=(const GradientWatch&) = delete;
  ~GradientWatch();

  bool reported(std::size_t group) const { return groups_[group].reported; }

 private:
  class Hook;
  struct Group {
    std::vector<at::Tensor> leaves;
    std::size_t missing = 0;
    bool reported = false;
  };

  void Accumulated(std::size_t group);

  const Complete complete_;
  std::vector<Group> groups_;
};

}  // namespace shoal::training
