// SPDX-License-Identifier: Apache-2.0
// The items of a batch in the order in which each pass takes them, on the host and on the device
// that computes, to which all of them travel in one copy.
//
// Const methods may be called from any thread. This header shows torch and is for this folder only.
// Methods throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rl/algorithms/batch_tensors.h"

namespace shoal::algorithms {

class ItemPasses {
 public:
  // Parts are empty.
  ItemPasses() = default;
  ItemPasses(std::vector<std::vector<std::int64_t>> orders, at::Device device);

  // Returns part m of n parts of nearly equal size of a pass, which borrows from this object.
  IndexList Part(std::size_t pass, std::size_t m, std::size_t n) const;

 private:
  std::vector<std::vector<std::int64_t>> host_;
  std::vector<at::Tensor> device_;
};

}  // namespace shoal::algorithms
