// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing: a function whose intermediate results are not kept for the backward
// pass but computed again.
//
// This header shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace shoal::language {

// Returns run(x) and keeps only x. `leaves` are the other tensors inside `run` that gradients flow
// into. `run` must be a pure function; it is kept alive until the backward pass, which runs on the
// threads of the autograd engine.
at::Tensor Checkpointed(std::function<at::Tensor(const at::Tensor&)> run, const at::Tensor& x,
                        const std::vector<at::Tensor>& leaves);

}  // namespace shoal::language
