// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/gpus.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct CUevent_st {
  int device = 0;
};

struct CUstream_st {
  int device = 0;
  bool busy = false;
};

namespace {

// What one rank has asked for in a call that has not ended.
struct Part {
  const void* send = nullptr;
  void* receive = nullptr;
  CUstream_st* stream = nullptr;
};

struct Group {
  std::vector<std::optional<int>> devices;
  std::vector<std::optional<Part>> parts;
};

struct Allocation {
  std::size_t bytes = 0;
  int device = 0;
};

// Everything below is read and written with this lock.
std::mutex mutex;
std::map<std::uintptr_t, Allocation> allocations;
std::map<std::string, Group> groups;
std::array<std::deque<std::function<bool()>>, shoal::doubles::kGpus> queued;
std::array<bool, shoal::doubles::kGpus> copies_hang{};
std::size_t bytes_over_the_bus = 0;
int groups_made = 0;

thread_local int current = 0;

// Returns the GPU in whose memory the address is.
std::optional<int> DeviceOf(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  auto next = allocations.upper_bound(place);
  if (next == allocations.begin()) return std::nullopt;
  --next;
  if (place >= next->first + next->second.bytes) return std::nullopt;
  return next->second.device;
}

}  // namespace

struct ncclComm {
  std::string group;
  int rank = 0;
  int device = 0;
};

namespace {

std::size_t SizeOf(ncclDataType_t type) {
  return type == ncclFloat64 ? sizeof(double) : type == ncclFloat32 ? sizeof(float) : 1;
}

template <typename T>
void Combine(ncclRedOp_t operation, void* into, const void* from, std::size_t count) {
  auto* const a = static_cast<T*>(into);
  const auto* const b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = operation == ncclSum   ? a[i] + b[i]
           : operation == ncclMax ? std::max(a[i], b[i])
                                  : std::min(a[i], b[i]);
  }
}

// Returns the sum (maximum, minimum) of the arrays of all ranks.
std::vector<std::byte> Reduced(const Group& group, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation) {
  std::vector<std::byte> all(count * SizeOf(type));
  std::memcpy(all.data(), group.parts[0]->send, all.size());
  for (std::size_t rank = 1; rank < group.parts.size(); ++rank) {
    const void* const from = group.parts[rank]->send;
    type == ncclFloat64 ? Combine<double>(operation, all.data(), from, count)
                        : Combine<float>(operation, all.data(), from, count);
  }
  return all;
}

// Notes the part of a rank. The last one makes `compute`, which returns what all ranks together
// get; `share` says which bytes of it a rank gets.
template <typename Compute, typename Share>
ncclResult_t Take(ncclComm_t rank, const Part& part, const Compute& compute, const Share& share) {
  const std::lock_guard lock(mutex);
  const auto own = [&](const void* address) { return DeviceOf(address) == rank->device; };
  if (current != rank->device || part.stream->device != rank->device || !own(part.send) ||
      !own(part.receive)) {
    return ncclInvalidArgument;
  }
  Group& group = groups.at(rank->group);
  group.parts[static_cast<std::size_t>(rank->rank)] = part;
  part.stream->busy = true;
  for (const auto& other : group.parts) {
    if (!other) return ncclSuccess;
  }
  const std::vector<std::byte> all = compute(group);
  for (std::size_t i = 0; i < group.parts.size(); ++i) {
    const auto [begin, bytes] = share(i);
    std::memcpy(group.parts[i]->receive, all.data() + begin, bytes);
    group.parts[i]->stream->busy = false;
    group.parts[i].reset();
  }
  return ncclSuccess;
}

}  // namespace

namespace shoal::doubles {

void QueueOnGpu(int gpu, std::function<bool()> work) {
  const std::lock_guard lock(mutex);
  queued.at(static_cast<std::size_t>(gpu)).push_back(std::move(work));
}

void ForgetQueued(int gpu) {
  const std::lock_guard lock(mutex);
  queued.at(static_cast<std::size_t>(gpu)).clear();
}

void HangCopies(int gpu, bool hang) {
  const std::lock_guard lock(mutex);
  copies_hang.at(static_cast<std::size_t>(gpu)) = hang;
}

std::size_t BytesOverTheBus() {
  const std::lock_guard lock(mutex);
  return bytes_over_the_bus;
}

std::size_t AllocationsOn(int gpu) {
  const std::lock_guard lock(mutex);
  return static_cast<std::size_t>(
      std::count_if(allocations.begin(), allocations.end(),
                    [gpu](const auto& entry) { return entry.second.device == gpu; }));
}

}  // namespace shoal::doubles

extern "C" {

const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in for CUDA"; }
const char* ncclGetErrorString(ncclResult_t) { return "an error of the stand-in for NCCL"; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = shoal::doubles::kGpus;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= shoal::doubles::kGpus) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = new CUevent_st{.device = current};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return event->device == current && stream == cudaStreamLegacy ? cudaSuccess
                                                                : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  auto& work = queued.at(static_cast<std::size_t>(event->device));
  std::function<bool()>* first = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (work.empty()) return cudaSuccess;
    first = &work.front();
  }
  const bool done = (*first)();
  const std::lock_guard lock(mutex);
  if (done) work.pop_front();
  return work.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st{.device = current};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (stream->device != current) return cudaErrorInvalidResourceHandle;
  return stream->busy ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  *address = std::malloc(std::max<std::size_t>(bytes, 1));
  const std::lock_guard lock(mutex);
  allocations[reinterpret_cast<std::uintptr_t>(*address)] = {.bytes = bytes, .device = current};
  return cudaSuccess;
}

cudaError_t cudaFree(void* address) {
  const std::lock_guard lock(mutex);
  if (DeviceOf(address) != current) return cudaErrorInvalidValue;
  allocations.erase(reinterpret_cast<std::uintptr_t>(address));
  std::free(address);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  const std::lock_guard lock(mutex);
  if (stream->device != current) return cudaErrorInvalidResourceHandle;
  if (DeviceOf(to).has_value() != DeviceOf(from).has_value()) bytes_over_the_bus += bytes;
  if (!DeviceOf(to) && copies_hang[static_cast<std::size_t>(current)]) {
    stream->busy = true;
    return cudaSuccess;
  }
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const std::lock_guard lock(mutex);
  const std::optional<int> device = DeviceOf(address);
  attributes->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->device = device.value_or(-1);
  return cudaSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(mutex);
  std::memset(id->internal, 0, sizeof(id->internal));
  id->internal[0] = static_cast<char>(++groups_made);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t*) {
  const std::lock_guard lock(mutex);
  const std::string name(id.internal, sizeof(id.internal));
  Group& group = groups[name];
  group.devices.resize(static_cast<std::size_t>(ranks));
  group.parts.resize(static_cast<std::size_t>(ranks));
  const auto taken = std::find(group.devices.begin(), group.devices.end(), current);
  if (taken != group.devices.end()) return ncclInvalidUsage;
  group.devices[static_cast<std::size_t>(rank)] = current;
  *communicator = new ncclComm{.group = name, .rank = rank, .device = current};
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  const std::lock_guard lock(mutex);
  auto& part = groups.at(communicator->group).parts[static_cast<std::size_t>(communicator->rank)];
  if (part) part->stream->busy = false;
  part.reset();
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* state) {
  *state = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t rank, cudaStream_t stream) {
  return Take(
      rank, {.send = send, .receive = receive, .stream = stream},
      [&](const Group& group) { return Reduced(group, count, type, operation); },
      [&](std::size_t) { return std::pair(std::size_t{0}, count * SizeOf(type)); });
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t operation, ncclComm_t rank,
                               cudaStream_t stream) {
  return Take(
      rank, {.send = send, .receive = receive, .stream = stream},
      [&](const Group& group) {
        return Reduced(group, count * group.parts.size(), type, operation);
      },
      [&](std::size_t i) { return std::pair(i * count * SizeOf(type), count * SizeOf(type)); });
}

ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclComm_t rank, cudaStream_t stream) {
  std::size_t all_bytes = 0;
  return Take(
      rank, {.send = send, .receive = receive, .stream = stream},
      [&](const Group& group) {
        const std::size_t bytes = count * SizeOf(type);
        all_bytes = bytes * group.parts.size();
        std::vector<std::byte> all(all_bytes);
        for (std::size_t i = 0; i < group.parts.size(); ++i) {
          std::memcpy(all.data() + i * bytes, group.parts[i]->send, bytes);
        }
        return all;
      },
      [&](std::size_t) { return std::pair(std::size_t{0}, all_bytes); });
}

ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t rank, cudaStream_t stream) {
  return Take(
      rank, {.send = send, .receive = receive, .stream = stream},
      [&](const Group& group) {
        std::vector<std::byte> all(count * SizeOf(type));
        std::memcpy(all.data(), group.parts[static_cast<std::size_t>(root)]->send, all.size());
        return all;
      },
      [&](std::size_t) { return std::pair(std::size_t{0}, count * SizeOf(type)); });
}

}  // extern "C"
