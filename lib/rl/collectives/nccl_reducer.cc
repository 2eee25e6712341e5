// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/nccl_reducer.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/rank_share.h"

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
// The time that a sum still has to come when another rank is gone, perhaps because it has its own.
constexpr std::chrono::seconds kNcclLastTime{1};
constexpr char kRankIsLate[] = "a rank did not come in time";

// CUDA keeps the device that calls refer to for each thread. This makes it `device` until its end.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    (void)cudaGetDevice(&before_);
    status_ = Check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  int before_ = 0;
  absl::Status status_;
};

bool IsOnDevice(std::span<const std::byte> bytes) {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, bytes.data()) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice;
}

// A part of an array, and where it lies in the staging memory, in bytes.
struct Piece {
  std::span<std::byte> bytes;
  std::size_t place = 0;
};

class NcclReducer final : public GradientReducer {
 public:
  NcclReducer(std::unique_ptr<SocketReducer> sockets, int device, const GroupOptions& options)
      : sockets_(std::move(sockets)), device_(device), options_(options) {}
  ~NcclReducer() override {
    const OnDevice on_device(device_);
    if (communicator_ != nullptr) ncclCommAbort(communicator_);
    if (staging_ != nullptr) cudaFree(staging_);
    if (queued_ != nullptr) cudaEventDestroy(queued_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  absl::Status Join() {
    const OnDevice on_device(device_);
    SHOAL_RETURN_IF_ERROR(on_device.status());
    SHOAL_RETURN_IF_ERROR(Check(cudaStreamCreate(&stream_), "cudaStreamCreate"));
    SHOAL_RETURN_IF_ERROR(Check(cudaEventCreateWithFlags(&queued_, cudaEventDisableTiming),
                                "cudaEventCreateWithFlags"));
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
  std::int64_t gpu() const override { return device_; }
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
  absl::Status ReduceScatterSum(std::span<float> values) override {
    const std::vector<Piece> own = {PieceOf(values, rank())};
    return Staged(PiecesOf(values), own, "ncclReduceScatter", [&] {
      return ncclReduceScatter(staging_, At(own.front().place), Longest(values), ncclFloat32,
                               ncclSum, communicator_, stream_);
    });
  }
  absl::Status AllGather(std::span<float> values) override {
    const std::vector<Piece> own = {PieceOf(values, rank())};
    return Staged(own, PiecesOf(values), "ncclAllGather", [&] {
      return ncclAllGather(At(own.front().place), staging_, Longest(values), ncclFloat32,
                           communicator_, stream_);
    });
  }
  absl::Status Broadcast(std::span<std::byte> bytes) override {
    return Staged(Whole(bytes), Whole(bytes), "ncclBroadcast", [&] {
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
    const bool in_place = IsOnDevice(bytes);
    const std::vector<Piece> staged = in_place ? std::vector<Piece>() : Whole(bytes);
    return Staged(staged, staged, "ncclAllReduce", [&] {
      void* const sums = in_place ? bytes.data() : staging_;
      return ncclAllReduce(sums, sums, count, type, operation, communicator_, stream_);
    });
  }

  // The shares of NCCL are equally long, so those of an array lie apart in the staging memory.
  std::size_t Longest(std::span<float> values) const {
    return ShareOf(values.size(), 0, world_size()).size;
  }
  Piece PieceOf(std::span<float> values, std::int64_t owner) const {
    const RankShare share = ShareOf(values.size(), owner, world_size());
    return {.bytes = std::as_writable_bytes(values.subspan(share.begin, share.size)),
            .place = static_cast<std::size_t>(owner) * Longest(values) * sizeof(float)};
  }
  std::vector<Piece> PiecesOf(std::span<float> values) const {
    std::vector<Piece> pieces;
    for (std::int64_t owner = 0; owner < world_size(); ++owner) {
      pieces.push_back(PieceOf(values, owner));
    }
    return pieces;
  }
  static std::vector<Piece> Whole(std::span<std::byte> bytes) {
    return {{.bytes = bytes, .place = 0}};
  }
  std::byte* At(std::size_t place) const { return static_cast<std::byte*>(staging_) + place; }

  // Copies the pieces `up` to the staging memory, runs `enqueue`, and copies `down` back.
  template <typename Enqueue>
  absl::Status Staged(const std::vector<Piece>& up, const std::vector<Piece>& down,
                      const char* what, const Enqueue& enqueue) {
    SHOAL_RETURN_IF_ERROR(failure_);
    const Deadline deadline = After(options_.call_timeout);
    const OnDevice on_device(device_);
    failure_ = on_device.status();
    if (failure_.ok()) failure_ = AwaitQueued(deadline);
    const bool begun = failure_.ok();
    if (begun) failure_ = TryStaged(up, down, what, enqueue, deadline);
    if (failure_.ok()) return failure_;
    sockets_->Abort(failure_);
    // Only aborting the communicator ends kernels that wait for another rank. Where there are none
    // it would wait for a GPU that may hang.
    if (begun) ncclCommAbort(std::exchange(communicator_, nullptr));
    return failure_;
  }

  // Waits for what the caller has queued, which may still write the array.
  absl::Status AwaitQueued(Deadline deadline) {
    SHOAL_RETURN_IF_ERROR(Check(cudaEventRecord(queued_, cudaStreamLegacy), "cudaEventRecord"));
    return Await([this] { return cudaEventQuery(queued_); }, deadline,
                 "what was queued on the GPU did not end in time");
  }

  template <typename Enqueue>
  absl::Status TryStaged(const std::vector<Piece>& up, const std::vector<Piece>& down,
                         const char* what, const Enqueue& enqueue, Deadline deadline) {
    SHOAL_RETURN_IF_ERROR(MakeRoom(up, down));
    for (const Piece& piece : up) {
      SHOAL_RETURN_IF_ERROR(Check(cudaMemcpyAsync(At(piece.place), piece.bytes.data(),
                                                  piece.bytes.size(), cudaMemcpyDefault, stream_),
                                  "copy to the device"));
    }
    SHOAL_RETURN_IF_ERROR(Check(enqueue(), what));
    SHOAL_RETURN_IF_ERROR(Settle(deadline));
    // A copy to memory that is not pinned returns only when all before it is done, without a
    // deadline, so the sum is waited for first.
    SHOAL_RETURN_IF_ERROR(AwaitStream(deadline, kRankIsLate));
    for (const Piece& piece : down) {
      SHOAL_RETURN_IF_ERROR(Check(cudaMemcpyAsync(piece.bytes.data(), At(piece.place),
                                                  piece.bytes.size(), cudaMemcpyDefault, stream_),
                                  "copy from the device"));
    }
    if (down.empty()) return absl::OkStatus();
    return AwaitStream(deadline, "the copy from the GPU's staging memory did not end in time");
  }

  absl::Status AwaitStream(Deadline deadline, const char* late) {
    return Await([this] { return cudaStreamQuery(stream_); }, deadline, late);
  }

  // Waits until `query` no longer says that the GPU is not ready. `late` says what was waited for
  // when the time is over.
  template <typename Query>
  absl::Status Await(const Query& query, Deadline deadline, const char* late) {
    absl::Status lost;
    for (;;) {
      const cudaError_t state = query();
      if (state != cudaErrorNotReady) return Check(state, "work on the GPU");
      SHOAL_RETURN_IF_ERROR(Settle(deadline));
      const absl::Status seen = Look(deadline, late);
      if (seen.ok()) continue;
      if (lost.ok()) {
        lost = seen;
        deadline = After(kNcclLastTime);
      } else if (std::chrono::steady_clock::now() >= deadline) {
        return lost;
      }
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
  absl::Status Look(Deadline deadline, const char* late = kRankIsLate) {
    std::this_thread::yield();
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return absl::DeadlineExceededError(late);
    if (now < next_look_) return absl::OkStatus();
    next_look_ = now + kPeersEvery;
    return sockets_->CheckPeers();
  }

  absl::Status MakeRoom(const std::vector<Piece>& up, const std::vector<Piece>& down) {
    if (up.empty()) return absl::OkStatus();
    // All pieces of an array are as far apart as the first one is long.
    const auto end = [](const std::vector<Piece>& pieces) {
      return pieces.back().place + pieces.front().bytes.size();
    };
    const std::size_t needed = std::max(end(up), end(down));
    if (needed <= capacity_) return absl::OkStatus();
    if (staging_ != nullptr) cudaFree(staging_);
    staging_ = nullptr;
    capacity_ = 0;
    SHOAL_RETURN_IF_ERROR(Check(cudaMalloc(&staging_, needed), "cudaMalloc"));
    capacity_ = needed;
    return absl::OkStatus();
  }

  const std::unique_ptr<SocketReducer> sockets_;
  const int device_;
  const GroupOptions options_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t queued_ = nullptr;
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
  auto reducer = std::make_unique<NcclReducer>(std::move(sockets), device, options);
  const absl::Status joined = reducer->Join();
  if (!joined.ok()) {
    reducer->Abort(joined);
    return joined;
  }
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace shoal::collectives
