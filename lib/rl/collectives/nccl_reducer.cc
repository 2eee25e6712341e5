// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/nccl_reducer.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace shoal::collectives {
namespace {

absl::Status Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return absl::OkStatus();
  return runtime::Unavailable(std::string(what) + ": " + cudaGetErrorString(error));
}

absl::Status Check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  return runtime::Unavailable(std::string(what) + ": " + ncclGetErrorString(result));
}

// The time between two checks of the other ranks' sockets.
constexpr std::chrono::milliseconds kPeersEvery{10};

class NcclReducer final : public GradientReducer {
 public:
  NcclReducer(std::unique_ptr<SocketReducer> sockets, const GroupOptions& options)
      : sockets_(std::move(sockets)), options_(options) {}
  ~NcclReducer() override {
    if (communicator_ != nullptr) ncclCommAbort(communicator_);
    if (staging_ != nullptr) cudaFree(staging_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  absl::Status Join(int device) {
    SHOAL_RETURN_IF_ERROR(Check(cudaSetDevice(device), "cudaSetDevice"));
    SHOAL_RETURN_IF_ERROR(Check(cudaStreamCreate(&stream_), "cudaStreamCreate"));
    ncclUniqueId id{};
    if (rank() == 0) SHOAL_RETURN_IF_ERROR(Check(ncclGetUniqueId(&id), "ncclGetUniqueId"));
    SHOAL_RETURN_IF_ERROR(sockets_->Broadcast(std::as_writable_bytes(std::span(&id, 1))));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    SHOAL_RETURN_IF_ERROR(
        Check(ncclCommInitRankConfig(&communicator_, static_cast<int>(world_size()), id,
                                     static_cast<int>(rank()), &config),
              "ncclCommInitRankConfig"));
    return Settle(After(options_.join_timeout));
  }

  std::int64_t rank() const override { return sockets_->rank(); }
  std::int64_t world_size() const override { return sockets_->world_size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    return AllReduce(std::as_writable_bytes(values), values.size(), ncclFloat32, ncclSum);
  }
  absl::Status AllReduceSum(std::span<double> values) override {
    return AllReduce(std::as_writable_bytes(values), values.size(), ncclFloat64, ncclSum);
  }
  absl::Status AllReduceMax(std::span<double> values) override {
    return AllReduce(std::as_writable_bytes(values), values.size(), ncclFloat64, ncclMax);
  }
  absl::Status AllReduceMin(std::span<double> values) override {
    return AllReduce(std::as_writable_bytes(values), values.size(), ncclFloat64, ncclMin);
  }
  absl::Status Broadcast(std::span<std::byte> bytes) override {
    return Call(bytes, "ncclBroadcast", [&] {
      return ncclBroadcast(staging_, staging_, bytes.size(), ncclUint8, 0, communicator_, stream_);
    });
  }
  absl::Status Barrier() override {
    std::array<double, 1> nothing{};
    return AllReduceSum(std::span<double>(nothing));
  }
  void Abort(const absl::Status& reason) override { sockets_->Abort(reason); }

 private:
  static Deadline After(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
  }

  absl::Status AllReduce(std::span<std::byte> bytes, std::size_t count, ncclDataType_t type,
                         ncclRedOp_t operation) {
    return Call(bytes, "ncclAllReduce", [&] {
      return ncclAllReduce(staging_, staging_, count, type, operation, communicator_, stream_);
    });
  }

  // Runs `enqueue` on the bytes in device memory and leaves its result in them.
  template <typename Enqueue>
  absl::Status Call(std::span<std::byte> bytes, const char* what, const Enqueue& enqueue) {
    SHOAL_RETURN_IF_ERROR(failure_);
    failure_ = TryCall(bytes, what, enqueue);
    if (failure_.ok()) return failure_;
    sockets_->Abort(failure_);
    // Only aborting the communicator ends kernels that wait for another rank.
    ncclCommAbort(std::exchange(communicator_, nullptr));
    return failure_;
  }

  template <typename Enqueue>
  absl::Status TryCall(std::span<std::byte> bytes, const char* what, const Enqueue& enqueue) {
    const Deadline deadline = After(options_.call_timeout);
    SHOAL_RETURN_IF_ERROR(Upload(bytes));
    SHOAL_RETURN_IF_ERROR(Check(enqueue(), what));
    SHOAL_RETURN_IF_ERROR(Settle(deadline));
    // A copy to memory that is not pinned returns only when all before it is done, without a
    // deadline, so the sum is waited for first.
    SHOAL_RETURN_IF_ERROR(AwaitStream(deadline));
    SHOAL_RETURN_IF_ERROR(Check(
        cudaMemcpyAsync(bytes.data(), staging_, bytes.size(), cudaMemcpyDeviceToHost, stream_),
        "copy from the device"));
    return Check(cudaStreamSynchronize(stream_), "copy from the device");
  }

  absl::Status AwaitStream(Deadline deadline) {
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state != cudaErrorNotReady) return Check(state, "cudaStreamQuery");
      SHOAL_RETURN_IF_ERROR(Settle(deadline));
      SHOAL_RETURN_IF_ERROR(Look(deadline));
    }
  }

  // Waits until the communicator has finished the operation that was enqueued.
  absl::Status Settle(Deadline deadline) {
    for (;;) {
      ncclResult_t state = ncclSuccess;
      SHOAL_RETURN_IF_ERROR(Check(ncclCommGetAsyncError(communicator_, &state), "NCCL"));
      if (state != ncclInProgress) return Check(state, "NCCL");
      SHOAL_RETURN_IF_ERROR(Look(deadline));
    }
  }

  // Returns an error when the time is over or another rank has failed.
  absl::Status Look(Deadline deadline) {
    std::this_thread::yield();
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return absl::DeadlineExceededError("a rank did not come in time");
    if (now < next_look_) return absl::OkStatus();
    next_look_ = now + kPeersEvery;
    return sockets_->CheckPeers();
  }

  absl::Status Upload(std::span<const std::byte> bytes) {
    if (bytes.size() > capacity_) {
      if (staging_ != nullptr) cudaFree(staging_);
      staging_ = nullptr;
      capacity_ = 0;
      SHOAL_RETURN_IF_ERROR(Check(cudaMalloc(&staging_, bytes.size()), "cudaMalloc"));
      capacity_ = bytes.size();
    }
    return Check(
        cudaMemcpyAsync(staging_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream_),
        "copy to the device");
  }

  const std::unique_ptr<SocketReducer> sockets_;
  const GroupOptions options_;
  cudaStream_t stream_ = nullptr;
  ncclComm_t communicator_ = nullptr;
  void* staging_ = nullptr;
  std::size_t capacity_ = 0;
  Deadline next_look_;
  // The error that ended the group.
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(
    std::unique_ptr<SocketReducer> sockets, int device, const GroupOptions& options) {
  auto reducer = std::make_unique<NcclReducer>(std::move(sockets), options);
  const absl::Status joined = reducer->Join(device);
  if (!joined.ok()) {
    reducer->Abort(joined);
    return joined;
  }
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace shoal::collectives
