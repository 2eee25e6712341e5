// SPDX-License-Identifier: Apache-2.0
#include "text/language/tensor_parallel.h"

#include <torch/csrc/autograd/custom_function.h>

namespace shoal::language {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Returns the sum in memory of its own, and in the type of float32, in which sums are made.
at::Tensor SumOf(const at::Tensor& x, const TensorSum& sum) {
  const at::Tensor total = x.detach().to(at::kFloat, /*non_blocking=*/false, /*copy=*/true,
                                         at::MemoryFormat::Contiguous);
  sum(total);
  return total;
}

struct SpreadFunction : torch::autograd::Function<SpreadFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const TensorSum* sum) {
    context->saved_data["sum"] = reinterpret_cast<std::int64_t>(sum);
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto* const sum = reinterpret_cast<const TensorSum*>(context->saved_data["sum"].toInt());
    return {SumOf(gradients[0], *sum).to(gradients[0].scalar_type()), at::Tensor()};
  }
};

struct SummedFunction : torch::autograd::Function<SummedFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const TensorSum* sum) {
    context->saved_data["type"] = x.scalar_type();
    return SumOf(x, *sum);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {gradients[0].to(context->saved_data["type"].toScalarType()), at::Tensor()};
  }
};

}  // namespace

at::Tensor Spread(const at::Tensor& x, const TensorSum& sum) {
  return SpreadFunction::apply(x, &sum);
}

at::Tensor Summed(const at::Tensor& x, const TensorSum& sum) {
  return SummedFunction::apply(x, &sum);
}

}  // namespace shoal::language
