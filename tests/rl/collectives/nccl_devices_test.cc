// SPDX-License-Identifier: Apache-2.0
// Tests on stand-ins for GPUs what ranks over NCCL ask of theirs, and when.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/launch.h"
#include "rl/collectives/nccl_reducer.h"
#include "tests/doubles/gpus.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::kPatientGroup;

// An array in the memory of a GPU.
class GpuArray {
 public:
  GpuArray(int gpu, const std::vector<float>& values) : gpu_(gpu), size_(values.size()) {
    (void)cudaSetDevice(gpu_);
    void* address = nullptr;
    (void)cudaMalloc(&address, size_ * sizeof(float));
    values_ = static_cast<float*>(address);
    Fill(values);
    (void)cudaSetDevice(0);
  }
  ~GpuArray() {
    (void)cudaSetDevice(gpu_);
    (void)cudaFree(values_);
    (void)cudaSetDevice(0);
  }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;

  void Fill(const std::vector<float>& values) {
    (void)cudaMemcpy(values_, values.data(), size_ * sizeof(float), cudaMemcpyDefault);
  }
  std::span<float> span() { return {values_, size_}; }
  std::vector<float> values() const { return {values_, values_ + size_}; }

 private:
  const int gpu_;
  const std::size_t size_;
  float* values_ = nullptr;
};

absl::StatusOr<std::unique_ptr<GradientReducer>> Join(const RankEnvironment& group,
                                                      std::size_t rank,
                                                      const GroupOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(auto sockets,
                         SocketReducer::Create(doubles::MemberOf(group, rank), options));
  return CreateNcclReducer(std::move(sockets), static_cast<int>(rank), options);
}

// Runs `work` as two ranks, each on its GPU, on threads that did not join.
void RunOnTwoGpus(const doubles::RankWork& work, const GroupOptions& options = kPatientGroup) {
  const RankEnvironment group = doubles::NewGroup(2);
  std::vector<absl::Status> ends(2);
  std::vector<std::unique_ptr<GradientReducer>> reducers(2);
  const auto each = [&](const std::function<void(std::size_t)>& run) {
    std::thread first([&] { run(0); });
    std::thread second([&] { run(1); });
    first.join();
    second.join();
  };
  each([&](std::size_t rank) {
    auto joined = Join(group, rank, options);
    ends[rank] = joined.status();
    if (joined.ok()) reducers[rank] = *std::move(joined);
  });
  for (const absl::Status& end : ends) REQUIRE(end.ToString() == "OK");
  each([&](std::size_t rank) {
    ends[rank] = work(rank, *reducers[rank]);
    reducers[rank].reset();
    int device = -1;
    if (cudaGetDevice(&device) != cudaSuccess || device != 0) {
      ends[rank] = runtime::Internal("the thread has another device than before");
    }
  });
  for (const absl::Status& end : ends) REQUIRE(end.ToString() == "OK");
}

TEST_CASE("a rank keeps to its GPU on a thread that did not join, and leaves the thread's device") {
  RunOnTwoGpus([](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    std::vector<float> values = {1, 2, 3};
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(values)));
    if (values != std::vector<float>{2, 4, 6}) return runtime::Internal("a wrong sum");
    if (reducer.gpu() != static_cast<std::int64_t>(rank)) return runtime::Internal("another GPU");
    SHOAL_RETURN_IF_ERROR(reducer.Barrier());
    if (doubles::AllocationsOn(static_cast<int>(rank)) == 0) {
      return runtime::Internal("the rank has staged elsewhere");
    }
    return reducer.Barrier();
  });
  REQUIRE(doubles::AllocationsOn(0) == 0);
  REQUIRE(doubles::AllocationsOn(1) == 0);
}

TEST_CASE(
    "arrays in the memory of GPUs are summed and shared there, and those of the host staged") {
  const std::size_t before = doubles::BytesOverTheBus();
  RunOnTwoGpus([](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    GpuArray sum(static_cast<int>(rank), {1, 2, 3});
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(sum.span()));
    if (sum.values() != std::vector<float>{2, 4, 6}) return runtime::Internal("a wrong sum");
    SHOAL_RETURN_IF_ERROR(reducer.ReduceScatterSum(sum.span()));
    const float own = sum.values()[rank == 0 ? 0 : 2];
    if (own != (rank == 0 ? 4 : 12)) return runtime::Internal("a wrong sum of a share");
    SHOAL_RETURN_IF_ERROR(reducer.AllGather(sum.span()));
    if (sum.values() != std::vector<float>{4, 8, 12}) return runtime::Internal("wrong shares");
    return absl::OkStatus();
  });
  REQUIRE(doubles::BytesOverTheBus() == before);
  RunOnTwoGpus([](std::size_t, GradientReducer& reducer) {
    std::vector<float> values = {1, 2, 3};
    return reducer.AllReduceSum(std::span<float>(values));
  });
  // Each rank sends its array up and gets the sum down.
  REQUIRE(doubles::BytesOverTheBus() == before + 2 * 2 * 3 * sizeof(float));
}

TEST_CASE("a sum waits for what is still to be computed on the GPU") {
  RunOnTwoGpus([](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    GpuArray values(static_cast<int>(rank), {0, 0});
    doubles::QueueOnGpu(static_cast<int>(rank), [&, asked = 0]() mutable {
      if (++asked < 3) return false;
      values.Fill({5, 7});
      return true;
    });
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(values.span()));
    return values.values() == std::vector<float>{10, 14} ? absl::OkStatus()
                                                         : runtime::Internal("a wrong sum");
  });
}

TEST_CASE("a GPU that hangs before a sum ends the call in time, with a reason, on every rank") {
  GroupOptions impatient = kPatientGroup;
  impatient.call_timeout = std::chrono::seconds(1);
  std::vector<absl::Status> sums(2);
  const auto begin = std::chrono::steady_clock::now();
  RunOnTwoGpus(
      [&](std::size_t rank, GradientReducer& reducer) {
        if (rank == 0) doubles::QueueOnGpu(0, [] { return false; });
        std::vector<float> values = {1};
        sums[rank] = reducer.AllReduceSum(std::span<float>(values));
        return absl::OkStatus();
      },
      impatient);
  doubles::ForgetQueued(0);
  REQUIRE(std::chrono::steady_clock::now() - begin <
          impatient.call_timeout + std::chrono::seconds(4));
  REQUIRE(absl::IsDeadlineExceeded(sums[0]));
  REQUIRE(doubles::Mentions(sums[0], "queued on the GPU"));
  REQUIRE_FALSE(sums[1].ok());
}

TEST_CASE("a rank whose GPU hangs after a sum does not say that another rank is late") {
  GroupOptions impatient = kPatientGroup;
  impatient.call_timeout = std::chrono::seconds(1);
  std::vector<absl::Status> sums(2);
  // No rank is gone before the other has its sum.
  std::latch both(2);
  doubles::HangCopies(0, true);
  RunOnTwoGpus(
      [&](std::size_t rank, GradientReducer& reducer) {
        std::vector<float> values = {1};
        sums[rank] = reducer.AllReduceSum(std::span<float>(values));
        both.arrive_and_wait();
        return absl::OkStatus();
      },
      impatient);
  doubles::HangCopies(0, false);
  INFO(sums[0].ToString());
  REQUIRE(absl::IsDeadlineExceeded(sums[0]));
  REQUIRE(doubles::Mentions(sums[0], "the copy from the GPU's staging memory"));
  REQUIRE(sums[1].ok());
}

TEST_CASE("a group over NCCL has the GPUs that are found for its processes, or ends with why") {
  const auto join = [](const GroupOptions& options) {
    const RankEnvironment group = doubles::NewGroup(2);
    std::vector<int> codes(2);
    const auto member = [&](std::size_t rank) {
      RankEnvironment own = doubles::MemberOf(group, rank);
      own.local_rank = static_cast<std::int64_t>(rank) + 4;
      WriteRankEnvironment(own);
      const auto joined = JoinGroup(options);
      if (joined.ok()) return 10 + static_cast<int>((*joined)->gpu());
      return doubles::Mentions(joined.status(), "no GPU for process 4") ? 1 : 2;
    };
    std::vector<pid_t> children;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      children.push_back(::fork());
      if (children.back() == 0) ::_exit(member(rank));
    }
    ::close(group.master_listener);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      int status = 0;
      ::waitpid(children[rank], &status, 0);
      codes[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    return codes;
  };
  GroupOptions options = kPatientGroup;
  options.reduction = Reduction::kNccl;
  options.find_gpu = [](std::int64_t local_rank) -> absl::StatusOr<std::int64_t> {
    return local_rank % 2;
  };
  REQUIRE(join(options) == std::vector<int>{10, 11});
  options.find_gpu = [](std::int64_t local_rank) -> absl::StatusOr<std::int64_t> {
    if (local_rank == 4) return runtime::FailedPrecondition("no GPU for process 4");
    return local_rank % 2;
  };
  REQUIRE(join(options) == std::vector<int>{1, 1});
}

}  // namespace
}  // namespace shoal::collectives
