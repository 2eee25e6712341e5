// SPDX-License-Identifier: Apache-2.0
// Finds torch's devices by name, and moves numbers between the host's memory and theirs.
//
// Every copy waits in a queue of the device and costs microseconds whatever its size is, so a batch
// travels up in one buffer (DeviceBatch) and down in one (ToHost). This header shows torch.
// Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/compute_device.h"

namespace shoal::model {

// Parses "auto" (a GPU where there is one, otherwise the CPU), "cpu", "cuda" or "cuda:<n>". Returns
// INVALID_ARGUMENT for another name, FAILED_PRECONDITION where there is no such device.
absl::StatusOr<at::Device> FindDevice(const std::string& name);

// Returns a copy of `values` on `device`, [values.size()] float32.
at::Tensor OnDevice(std::span<const float> values, at::Device device);
// Returns the numbers of a tensor on any device, row after row, without its gradient.
std::vector<float> OnHost(const at::Tensor& tensor);

// Arrays of the host that go to a device in one copy.
//
//   DeviceBatch batch(device);
//   const auto rows = batch.Add(std::span<const std::int64_t>(numbers));
//   batch.Send();
//   at::Tensor tensor = batch.Get(rows, {count});
//
// Arrays are written straight into the buffer that is sent. On a CUDA device it is pinned and the
// copy is queued on the current stream, so Send returns before the copy ends; torch keeps the
// buffer until then. Not thread-safe.
class DeviceBatch {
 public:
  // One array of the batch.
  struct Array {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    at::ScalarType type = at::kByte;
  };

  explicit DeviceBatch(at::Device device) : device_(device) {}

  // Copies the values. REQUIRES: Send was not called.
  Array Add(std::span<const float> values);
  Array Add(std::span<const double> values);
  Array Add(std::span<const std::int64_t> values);
  Array Add(std::span<const std::uint8_t> values);
  // Numbers in binary16.
  Array AddHalves(std::span<const std::uint16_t> values);

  void Send();

  // Returns the array as a tensor on the device, which shares the batch's memory there. REQUIRES:
  // Send was called, and `shape` has as many elements as the array.
  at::Tensor Get(const Array& array, at::IntArrayRef shape) const;

 private:
  Array Append(const void* values, std::size_t bytes, at::ScalarType type);

  const at::Device device_;
  // The buffer on the host, of which the first `size_` bytes are used.
  at::Tensor host_;
  std::size_t size_ = 0;
  at::Tensor sent_;
};

// Returns contiguous copies of the tensors on the host, of the same types and shapes. They are made
// by one copy, which waits for all work that is queued on the current stream. REQUIRES: the tensors
// are on one device.
std::vector<at::Tensor> ToHost(const std::vector<at::Tensor>& tensors);

// What this thread has copied since it began: the calls of Send and of ToHost that moved anything.
struct CopyCounts {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
};
const CopyCounts& Copies();

}  // namespace shoal::model
