// SPDX-License-Identifier: Apache-2.0
#include "text/language/checkpointing.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>

namespace shoal::language {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Run = std::function<at::Tensor(const at::Tensor&)>;

struct Again : torch::autograd::Function<Again> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, at::TensorList leaves,
                            const std::shared_ptr<Run>& run) {
    variable_list saved = leaves.vec();
    saved.push_back(x);
    context->save_for_backward(std::move(saved));
    context->saved_data["run"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(run));
    return (*run)(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list leaves = context->get_saved_variables();
    const bool flows = leaves.back().requires_grad();
    const at::Tensor x = leaves.back().detach().requires_grad_(flows);
    leaves.pop_back();
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["run"].toCapsule());
    at::Tensor out;
    {
      const at::AutoGradMode enable(true);
      out = (*holder->run)(x);
    }
    variable_list inputs;
    if (flows) inputs.push_back(x);
    for (const at::Tensor& leaf : leaves) {
      if (leaf.requires_grad()) inputs.push_back(leaf);
    }
    const variable_list found = torch::autograd::grad({out}, inputs, gradients, /*retain_graph=*/{},
                                                      /*create_graph=*/false,
                                                      /*allow_unused=*/true);
    auto next = found.begin();
    variable_list results = {flows ? *next++ : at::Tensor()};
    for (const at::Tensor& leaf : leaves) {
      results.push_back(leaf.requires_grad() ? *next++ : at::Tensor());
    }
    results.emplace_back();
    return results;
  }

  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Run> function) : run(std::move(function)) {}
    const std::shared_ptr<Run> run;
  };
};

}  // namespace

at::Tensor Checkpointed(Run run, const at::Tensor& x, const std::vector<at::Tensor>& leaves) {
  if (!at::GradMode::is_enabled()) return run(x);
  return Again::apply(x, at::TensorList(leaves), std::make_shared<Run>(std::move(run)));
}

}  // namespace shoal::language
