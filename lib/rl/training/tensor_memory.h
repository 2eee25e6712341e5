// SPDX-License-Identifier: Apache-2.0
// Takes the memory of a tensor away and gives it back, while the tensor and its views stay.
//
// This header shows torch. What a function does to a tensor it does to all tensors that share its
// memory. Not thread-safe. On a GPU all work on such tensors must be in one stream.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace shoal::training {

// Gives the memory back. Nothing may read or write the tensor until AllocateMemory; views of it may
// be made.
inline void ReleaseMemory(const at::Tensor& tensor) {
  const at::Storage& storage = tensor.storage();
  storage.set_data_ptr_noswap(storage.allocator()->allocate(0));
}

// Gives memory with any content to a tensor that was released, and does nothing to another one.
inline void AllocateMemory(const at::Tensor& tensor) {
  const at::Storage& storage = tensor.storage();
  if (storage.data() != nullptr) return;
  storage.set_data_ptr_noswap(storage.allocator()->allocate(storage.nbytes()));
}

// Returns how many bytes of memory the tensor has now, and all that share it.
inline std::int64_t MemoryOf(const at::Tensor& tensor) {
  const at::Storage& storage = tensor.storage();
  return storage.data() == nullptr ? 0 : static_cast<std::int64_t>(storage.nbytes());
}

}  // namespace shoal::training
