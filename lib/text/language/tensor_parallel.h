// SPDX-License-Identifier: Apache-2.0
// The two functions in which tensor-parallel ranks meet (f and g of Shoeybi et al., "Megatron-LM",
// 2019): the half of a block runs between them on a part of its columns and rows.
//
// This header shows torch. All ranks of a group call both in the same order, with tensors of one
// shape, and each pass back through them as well.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace shoal::language {

// Replaces a contiguous float32 tensor, on any device, by its sum over the ranks. Throws where that
// fails.
using TensorSum = std::function<void(const at::Tensor&)>;

// Returns x, whose gradient is the sum of those of all ranks. `sum` outlives the backward pass, as
// below.
at::Tensor Spread(const at::Tensor& x, const TensorSum& sum);
// Returns the sum of x over all ranks, in float32. Its gradient is that of x on each rank.
at::Tensor Summed(const at::Tensor& x, const TensorSum& sum);

}  // namespace shoal::language
