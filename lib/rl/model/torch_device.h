// SPDX-License-Identifier: Apache-2.0
// Finds torch's devices by name, and moves numbers between the host's memory and theirs.
//
// Every copy waits in a queue of the device and costs microseconds whatever its size is, so a batch
// travels up in one buffer (DeviceBatch) and down in one (ToHost). Frames of pixels are megabytes:
// they go up beside it from where they lie, in slices (FrameUpload). This header shows torch.
// Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/compute_device.h"

namespace shoal::model {

// Parses "auto" (a GPU where there is one, otherwise the CPU), "cpu", "cuda" or "cuda:<n>". Returns
// INVALID_ARGUMENT for another name, FAILED_PRECONDITION where there is no such device. With
// the first GPU that it returns, float32 means in the whole process that factors are not rounded to
// TF32.
absl::StatusOr<at::Device> FindDevice(const std::string& name);

// Returns copies on `device` of tensors of the host, of the same types and shapes, made by one
// copy; undefined ones stay undefined. A GPU gets it from pinned memory on the current stream, and
// nobody waits for it.
std::vector<at::Tensor> CopyUp(const std::vector<at::Tensor>& tensors, at::Device device);
// Return such copies of numbers of the host, [values.size()], float32 or int64.
at::Tensor CopyUp(std::span<const float> values, at::Device device);
at::Tensor CopyUp(std::span<const std::int64_t> values, at::Device device);
// Replaces the tensors by such copies. On a CPU they stay what they are, and Copies() counts the
// copy that a GPU would get.
void MoveTogether(const std::vector<at::Tensor*>& tensors, at::Device device);

// Returns a stream of torch's pool, or nothing for a CPU. There are 32 of each priority.
std::optional<c10::Stream> StreamOn(at::Device device, bool high_priority);

// Returns a copy of `values` on `device`, [values.size()] float32. It waits for the copy and pins
// no memory, which torch would keep, so that it suits what is copied once and may be large.
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

  // Copies the values. Zeros follow until the array has `padded` of them, if that is more.
  // REQUIRES: Send was not called.
  Array Add(std::span<const float> values, std::int64_t padded = 0);
  Array Add(std::span<const double> values, std::int64_t padded = 0);
  Array Add(std::span<const std::int64_t> values, std::int64_t padded = 0);
  Array Add(std::span<const std::uint8_t> values, std::int64_t padded = 0);
  // Numbers in binary16.
  Array AddHalves(std::span<const std::uint16_t> values, std::int64_t padded = 0);

  // The bytes of each array, in the order in which they were added. Batches with the same lengths
  // lay out their arrays alike.
  std::span<const std::int64_t> lengths() const { return lengths_; }
  // The bytes of the buffer.
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  // Does nothing when the batch was sent already.
  void Send();
  // Sends to the first bytes of `target`, on the device, instead of to new memory. REQUIRES:
  // `target` has at least size() bytes, and nothing was sent yet.
  void SendTo(const at::Tensor& target);

  // Returns the array as a tensor on the device, which shares the batch's memory there. REQUIRES:
  // it was sent, and `shape` has as many elements as the array.
  at::Tensor Get(const Array& array, at::IntArrayRef shape) const;

 private:
  template <typename T>
  Array Append(std::span<const T> values, std::int64_t padded, at::ScalarType type);
  // Returns where an array of `bytes` begins in the buffer, which it makes large enough.
  std::size_t Reserve(std::size_t bytes);
  at::Tensor Filled() const;

  const at::Device device_;
  // The buffer on the host, of which the first `size_` bytes are used.
  at::Tensor host_;
  std::size_t size_ = 0;
  std::vector<std::int64_t> lengths_;
  at::Tensor sent_;
};

// Rows of bytes on their way to a device, in slices of at most kSliceRows rows.
//
//   FrameUpload upload(device, stream);
//   upload.Send(bytes, rows);
//   for (std::size_t i = 0; i < upload.slices(); ++i) Compute(upload.Slice(i));
//
// On a GPU all copies are queued at once on a stream of their own, and what the current stream is
// told to do with a slice waits for that slice alone: the next one travels meanwhile. They are
// fastest from pinned memory (host_memory.h). Not thread-safe.
class FrameUpload {
 public:
  // With fewer rows a GPU computes less than it could, and with more it waits longer for the first
  // slice, and holds more of what its layers make.
  static constexpr std::int64_t kSliceRows = 512;

  // `copies` is the stream of the copies. Without one Send waits for each slice, as on a CPU.
  // REQUIRES: it is not the current one.
  FrameUpload(at::Device device, const std::optional<c10::Stream>& copies)
      : device_(device), copies_(copies) {}
  // Waits for copies that are still queued, so that neither their source nor their target is used
  // for something else meanwhile, whatever has become of the batch.
  ~FrameUpload();
  FrameUpload(const FrameUpload&) = delete;
  FrameUpload& operator=(const FrameUpload&) = delete;

  // `bytes` are `rows` rows of the same length, and must stay as they are until this object is
  // destroyed or the current stream was waited for after the last slice. REQUIRES: `rows` is above
  // 0, and this is the first call.
  void Send(std::span<const std::uint8_t> bytes, std::int64_t rows);

  std::size_t slices() const { return slices_.size(); }
  // Returns the rows of a slice [r, length], and lets the current stream wait for them.
  at::Tensor Slice(std::size_t index) const;

 private:
  const at::Device device_;
  const std::optional<c10::Stream> copies_;
  std::vector<at::Tensor> slices_;
  // One for each slice on a GPU: that it has arrived.
  std::vector<c10::Event> arrivals_;
};

// Tensors of one device, one after the other in one array.
struct JoinedTensors {
  struct Part {
    at::ScalarType type;
    std::vector<std::int64_t> shape;
  };

  at::Tensor bytes;  // [the bytes of all]
  std::vector<Part> parts;
};

JoinedTensors Join(const std::vector<at::Tensor>& tensors);
// Returns contiguous copies of tensors that were joined. `bytes` are on the host.
std::vector<at::Tensor> Split(const at::Tensor& bytes,
                              const std::vector<JoinedTensors::Part>& parts);
// Copies bytes from a device to the host, after all work that is queued on the current stream, and
// waits for them.
void CopyDown(const at::Tensor& bytes, at::Tensor host);

// Returns contiguous copies of the tensors on the host, of the same types and shapes. They are made
// by one copy, which waits for all work that is queued on the current stream. REQUIRES: the tensors
// are on one device.
std::vector<at::Tensor> ToHost(const std::vector<at::Tensor>& tensors);

// The copies of this thread since it began: batches, and calls of CopyUp, MoveTogether, ToHost and
// CopyDown, whose tensors have any bytes, and the slices of frames. On a CPU the copies count that
// a GPU would make, so that tests can count them there.
struct CopyCounts {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
};
const CopyCounts& Copies();

}  // namespace shoal::model
