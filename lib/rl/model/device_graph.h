// SPDX-License-Identifier: Apache-2.0
// Work of a device that is recorded once and then repeated at the cost of one launch: a CUDA graph.
//
//   DeviceGraph graph(device, stream, pool, [&] { return input.mul(2); });
//   input.copy_(other);
//   graph.Replay();                       // graph.output() holds other * 2
//
// A GPU repeats the same operations at the same addresses, so whatever the work reads has to lie in
// tensors that are written in place, and whatever it decides on the host stays decided. On a CPU
// Replay calls the work again and copies what it returns to where the first result lies: the same
// code runs in tests without a GPU.
//
// Programs link no CUDA. The functions of libtorch_cuda.so are looked up in the libraries that are
// loaded. Threads may use different graphs at the same time; on GPUs, graphs of a process are
// recorded, queued and destroyed one at a time, so work must use no other graph. A single graph is
// not thread-safe. This header shows torch and is for this folder only. Methods throw what
// torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <functional>
#include <memory>
#include <optional>

namespace shoal::model {

// Memory for what lies between the operations of several graphs, which must not be replayed at the
// same time. On a GPU graphs with the same number share it.
struct GraphMemory {
  unsigned long long first = 0;
  unsigned long long second = 0;

  // REQUIRES: FindDevice found `device`.
  static GraphMemory On(at::Device device);
};

class DeviceGraph {
 public:
  // Queues operations on the current stream and returns a tensor of the same shape each time. It
  // may neither wait for the device nor copy from the host.
  using Work = std::function<at::Tensor()>;

  // Runs `work` once to warm up, and on a GPU records it then. `stream`, absent on a CPU, is for
  // recording alone: no other thread may use it meanwhile. It first waits for what is queued on the
  // current stream. `work` lives as long as the graph, and keeps what it refers to. Throws when an
  // operation cannot be recorded; nothing is left behind then.
  DeviceGraph(at::Device device, const std::optional<c10::Stream>& stream,
              const GraphMemory& memory, Work work);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  // Queues the work once more on the current stream.
  void Replay();
  // Where each Replay leaves its result. Undefined contents before the first one.
  const at::Tensor& output() const { return output_; }

 private:
  class Recording;

  const Work work_;
  // Absent on a CPU.
  std::unique_ptr<Recording> recording_;
  at::Tensor output_;
};

}  // namespace shoal::model
