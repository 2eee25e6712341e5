// SPDX-License-Identifier: Apache-2.0
#include "rl/training/gradient_watch.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <utility>

namespace shoal::training {

class GradientWatch::Hook final : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientWatch& watch, std::size_t group) : watch_(watch), group_(group) {}
  void operator()(const at::Tensor&) override { watch_.Accumulated(group_); }

 private:
  GradientWatch& watch_;
  const std::size_t group_;
};

GradientWatch::GradientWatch(std::vector<std::vector<at::Tensor>> groups, Complete complete)
    : complete_(std::move(complete)) {
  for (std::vector<at::Tensor>& leaves : groups) {
    const std::size_t count = leaves.size();
    groups_.push_back({std::move(leaves), count});
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const at::Tensor& leaf : groups_[group].leaves) {
      torch::autograd::impl::set_post_acc_grad_hooks(leaf, std::make_unique<Hook>(*this, group));
    }
  }
}

GradientWatch::~GradientWatch() {
  for (const Group& group : groups_) {
    for (const at::Tensor& leaf : group.leaves) {
      torch::autograd::impl::set_post_acc_grad_hooks(leaf, nullptr);
    }
  }
}

void GradientWatch::Accumulated(std::size_t group) {
  Group& of_leaf = groups_[group];
  if (of_leaf.missing == 0 || --of_leaf.missing > 0) return;
  of_leaf.reported = true;
  complete_(group);
}

}  // namespace shoal::training
