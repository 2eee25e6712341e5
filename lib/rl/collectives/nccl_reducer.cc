// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/nccl_reducer.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <array>
#include <string>
#include <thread>

namespace shoal::collectives {
namespace {

absl::Status Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return absl::OkStatus();
  return runtime::Unavailable(std::string(what) + ": " + cudaGetErrorString(error));
}

absl::Status Check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return absl::OkStatus();
  return runtime::Unavailable(std::string(what) + ": " + ncclGetErrorString(result));
}

class NcclReducer final : public GradientReducer {
 public:
  NcclReducer(std::int64_t rank, std::int64_t world_size) : rank_(rank), world_size_(world_size) {}
  ~NcclReducer() override {
    if (communicator_ != nullptr) ncclCommAbort(communicator_);
    if (staging_ != nullptr) cudaFree(staging_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  absl::Status Join(GradientReducer& rendezvous, int device) {
    SHOAL_RETURN_IF_ERROR(Check(cudaSetDevice(device), "cudaSetDevice"));
    SHOAL_RETURN_IF_ERROR(Check(cudaStreamCreate(&stream_), "cudaStreamCreate"));
    ncclUniqueId id{};
    if (rank_ == 0) SHOAL_RETURN_IF_ERROR(Check(ncclGetUniqueId(&id), "ncclGetUniqueId"));
    SHOAL_RETURN_IF_ERROR(rendezvous.Broadcast(std::as_writable_bytes(std::span(&id, 1))));
    return Check(ncclCommInitRank(&communicator_, static_cast<int>(world_size_), id,
                                  static_cast<int>(rank_)),
                 "ncclCommInitRank");
  }

  std::int64_t rank() const override { return rank_; }
  std::int64_t world_size() const override { return world_size_; }
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
    SHOAL_RETURN_IF_ERROR(Upload(bytes));
    SHOAL_RETURN_IF_ERROR(
        Check(ncclBroadcast(staging_, staging_, bytes.size(), ncclUint8, 0, communicator_, stream_),
              "ncclBroadcast"));
    return Download(bytes);
  }
  absl::Status Barrier() override {
    std::array<double, 1> nothing{};
    return AllReduceSum(std::span<double>(nothing));
  }

 private:
  absl::Status AllReduce(std::span<std::byte> bytes, std::size_t count, ncclDataType_t type,
                         ncclRedOp_t operation) {
    SHOAL_RETURN_IF_ERROR(Upload(bytes));
    SHOAL_RETURN_IF_ERROR(
        Check(ncclAllReduce(staging_, staging_, count, type, operation, communicator_, stream_),
              "ncclAllReduce"));
    return Download(bytes);
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

  absl::Status Download(std::span<std::byte> bytes) {
    SHOAL_RETURN_IF_ERROR(Check(
        cudaMemcpyAsync(bytes.data(), staging_, bytes.size(), cudaMemcpyDeviceToHost, stream_),
        "copy from the device"));
    // Asks instead of blocking: a kernel whose peer died never ends, and NCCL says so only when
    // asked.
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state != cudaErrorNotReady) return Check(state, "cudaStreamQuery");
      ncclResult_t behind = ncclSuccess;
      SHOAL_RETURN_IF_ERROR(Check(ncclCommGetAsyncError(communicator_, &behind), "NCCL"));
      SHOAL_RETURN_IF_ERROR(Check(behind, "NCCL"));
      std::this_thread::yield();
    }
  }

  const std::int64_t rank_;
  const std::int64_t world_size_;
  cudaStream_t stream_ = nullptr;
  ncclComm_t communicator_ = nullptr;
  void* staging_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(GradientReducer& rendezvous,
                                                                   int device) {
  auto reducer = std::make_unique<NcclReducer>(rendezvous.rank(), rendezvous.world_size());
  SHOAL_RETURN_IF_ERROR(reducer->Join(rendezvous, device));
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace shoal::collectives
