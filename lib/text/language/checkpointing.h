// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing: a function whose inner results are not kept for backward but computed
// again there.
//
// Shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace shoal::language {

// run(x), of which only x is kept. `leaves`: the other tensors inside `run` that gradients flow
// into. `run` is a pure function and is kept alive until backward. Threads: backward runs where the
// autograd engine does.
at::Tensor Checkpointed(std::function<at::Tensor(const at::Tensor&)> run, const at::Tensor& x,
                        const std::vector<at::Tensor>& leaves);

}  // namespace shoal::language
