// SPDX-License-Identifier: Apache-2.0
#include "rl/model/device_graph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <utility>

#include "platform/runtime/mutex.h"

namespace shoal::model {
namespace {

using at::cuda::CUDAGraph;

// A CUDAGraph registers with the state of its device's default generator of random numbers when its
// recording begins, reads and advances that state when it is replayed, and leaves it when it is
// destroyed. torch's CUDAGeneratorState has no lock for its set of graphs and its other fields, and
// graphs of several threads may be on one device.
runtime::Mutex generators_mutex;

template <typename Symbol>
void Find(const char* name, Symbol& symbol) {
  symbol = reinterpret_cast<Symbol>(::dlsym(RTLD_DEFAULT, name));
  TORCH_CHECK(symbol != nullptr, "torch's libraries for CUDA have no ", name);
}

// Members of CUDAGraph by the names that compilers give them: functions whose first argument is the
// object; and torch's allocator of the device's memory.
struct GraphFunctions {
  GraphFunctions() {
    Find("_ZN2at4cuda17graph_pool_handleEv", new_memory);
    Find("_ZN2at4cuda9CUDAGraphC1Eb", construct);
    Find("_ZN2at4cuda9CUDAGraphD1Ev", destroy);
    Find("_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode", begin);
    Find("_ZN2at4cuda9CUDAGraph11capture_endEv", end);
    Find("_ZN2at4cuda9CUDAGraph6replayEv", replay);
    Find("_ZN3c104cuda20CUDACachingAllocator9allocatorE", allocator);
  }

  at::MempoolId_t (*new_memory)();
  void (*construct)(CUDAGraph* graph, bool keep);
  void (*destroy)(CUDAGraph* graph);
  void (*begin)(CUDAGraph* graph, at::MempoolId_t memory, cudaStreamCaptureMode mode);
  void (*end)(CUDAGraph* graph);
  void (*replay)(CUDAGraph* graph);
  std::atomic<c10::cuda::CUDACachingAllocator::CUDAAllocator*>* allocator;
};

const GraphFunctions& Functions() {
  static const GraphFunctions functions;
  return functions;
}

}  // namespace

GraphMemory GraphMemory::On(at::Device device) {
  if (device.is_cpu()) return {};
  const at::MempoolId_t memory = Functions().new_memory();
  return {.first = memory.first, .second = memory.second};
}

class DeviceGraph::Recording {
 public:
  explicit Recording(c10::DeviceIndex device) : device_(device) {
    const runtime::MutexLock lock(generators_mutex);
    Functions().construct(graph(), /*keep=*/false);
  }
  ~Recording() {
    const runtime::MutexLock lock(generators_mutex);
    Functions().destroy(graph());
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  at::Tensor Record(const GraphMemory& memory, const Work& work)
      ABSL_LOCKS_EXCLUDED(generators_mutex) {
    const runtime::MutexLock lock(generators_mutex);
    const at::MempoolId_t pool = {memory.first, memory.second};
    try {
      // Other threads may use the device meanwhile.
      Functions().begin(graph(), pool, cudaStreamCaptureModeThreadLocal);
      at::Tensor output = work();
      Functions().end(graph());
      return output;
    } catch (const c10::Error&) {
      Abandon(pool);
      throw;
    }
  }
  void Replay() ABSL_LOCKS_EXCLUDED(generators_mutex) {
    const runtime::MutexLock lock(generators_mutex);
    Functions().replay(graph());
  }

 private:
  CUDAGraph* graph() { return reinterpret_cast<CUDAGraph*>(storage_); }
  // Ends a recording that has failed. torch then leaves its allocators as if it went on. Each step
  // throws where it was made already.
  void Abandon(const at::MempoolId_t& pool) ABSL_EXCLUSIVE_LOCKS_REQUIRED(generators_mutex) {
    const auto attempt = [](const auto& step) {
      try {
        step();
      } catch (const c10::Error&) {
      }
    };
    attempt([&] { Functions().end(graph()); });
    attempt([&] { Functions().allocator->load()->endAllocateToPool(device_, pool); });
    attempt([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool); });
  }

  const c10::DeviceIndex device_;
  alignas(CUDAGraph) std::byte storage_[sizeof(CUDAGraph)];
};

DeviceGraph::DeviceGraph(at::Device device, const std::optional<c10::Stream>& stream,
                         const GraphMemory& memory, Work work)
    : work_(std::move(work)) {
  if (device.is_cpu()) {
    output_ = work_();
    return;
  }
  // torch makes tensors of its own when it records, and writes them when it repeats.
  const c10::InferenceMode inference;
  const c10::impl::VirtualGuardImpl streams(device.type());
  c10::Event queued(device.type());
  queued.record(streams.getStream(device));
  queued.block(*stream);
  const c10::StreamGuard on_stream(*stream);
  // Libraries begin now what they may not begin while work is recorded.
  work_();
  stream->synchronize();
  recording_ = std::make_unique<Recording>(device.index());
  output_ = recording_->Record(memory, work_);
}

DeviceGraph::~DeviceGraph() = default;

void DeviceGraph::Replay() {
  if (recording_ != nullptr) {
    const c10::InferenceMode inference;
    recording_->Replay();
  } else {
    output_.copy_(work_());
  }
}

}  // namespace shoal::model
