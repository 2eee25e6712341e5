// SPDX-License-Identifier: Apache-2.0
// Tests sums over NCCL on the GPUs of this machine, or on the stand-ins that are linked: one rank
// for each.
#include "rl/collectives/nccl_reducer.h"

#include <cuda_runtime_api.h>

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "rl/collectives/rank_share.h"
#include "tests/doubles/gpu_left_out.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::kPatientGroup;

std::size_t Gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? static_cast<std::size_t>(count) : 0;
}

// Runs `work` as ranks over NCCL, rank by rank on the GPUs that there are.
std::vector<absl::Status> TryNcclRanks(std::size_t ranks, const doubles::RankWork& work) {
  const RankEnvironment group = doubles::NewGroup(ranks);
  std::vector<absl::Status> ends(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto sockets = SocketReducer::Create(doubles::MemberOf(group, rank), kPatientGroup);
      if (!sockets.ok()) {
        ends[rank] = sockets.status();
        return;
      }
      auto reducer =
          CreateNcclReducer(*std::move(sockets), static_cast<int>(rank % Gpus()), kPatientGroup);
      ends[rank] = reducer.ok() ? work(rank, **reducer) : reducer.status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ends;
}

TEST_CASE("a GPU that does not exist is refused with CUDA's reason") {
  auto sockets = SocketReducer::Create(doubles::NewGroup(1), kPatientGroup).value();
  const auto reducer = CreateNcclReducer(std::move(sockets), 99, kPatientGroup);
  REQUIRE(absl::IsUnavailable(reducer.status()));
  REQUIRE_THAT(std::string(reducer.status().message()), Catch::Contains("cudaSetDevice"));
}

TEST_CASE("ranks over NCCL compute what the interface says, small arrays and large ones") {
  const std::size_t ranks = Gpus();
  if (ranks == 0) {
    doubles::LeaveOutGpu("CUDA has no device");
    return;
  }
  const auto of_all = static_cast<float>(ranks);
  for (const std::size_t count : {1U, 1000U, 10'000'000U}) {
    const auto ends = TryNcclRanks(ranks, [&](std::size_t rank, GradientReducer& reducer) {
      std::vector<float> sum(count);
      std::iota(sum.begin(), sum.end(), 0.0F);
      SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(sum)));
      for (std::size_t i = 0; i < count; i += 97) {
        if (sum[i] != static_cast<float>(i) * of_all) return runtime::Internal("a wrong sum");
      }
      std::vector<float> scattered(count + 1);
      std::iota(scattered.begin(), scattered.end(), 0.0F);
      std::vector<float> expected = scattered;
      for (float& number : expected) number *= of_all;
      SHOAL_RETURN_IF_ERROR(reducer.ReduceScatterSum(scattered));
      const RankShare share =
          ShareOf(count + 1, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(ranks));
      for (std::size_t i = share.begin; i < share.begin + share.size; ++i) {
        if (scattered[i] != expected[i]) return runtime::Internal("a wrong sum of a share");
      }
      SHOAL_RETURN_IF_ERROR(reducer.AllGather(scattered));
      if (scattered != expected) return runtime::Internal("wrong shares of other ranks");
      std::array<double, 2> ends_of = {static_cast<double>(rank), -static_cast<double>(rank)};
      std::array<double, 2> least = ends_of;
      SHOAL_RETURN_IF_ERROR(reducer.AllReduceMax(ends_of));
      SHOAL_RETURN_IF_ERROR(reducer.AllReduceMin(least));
      if (ends_of[0] != of_all - 1 || ends_of[1] != 0) return runtime::Internal("a wrong maximum");
      if (least[0] != 0 || least[1] != 1 - of_all) return runtime::Internal("a wrong minimum");
      std::array<std::byte, 5> bytes{};
      bytes.fill(std::byte{static_cast<unsigned char>(7 + rank)});
      SHOAL_RETURN_IF_ERROR(reducer.Broadcast(bytes));
      if (bytes[4] != std::byte{7}) return runtime::Internal("a wrong broadcast");
      return reducer.Barrier();
    });
    for (const absl::Status& end : ends) REQUIRE(end.ToString() == "OK");
  }
}

TEST_CASE("more ranks than GPUs end with NCCL's reason instead of waiting for each other") {
  const std::size_t gpus = Gpus();
  if (gpus == 0) {
    doubles::LeaveOutGpu("CUDA has no device");
    return;
  }
  const auto ends = TryNcclRanks(
      gpus + 1, [](std::size_t, GradientReducer& reducer) { return reducer.Barrier(); });
  for (const absl::Status& end : ends) REQUIRE_FALSE(end.ok());
}

}  // namespace
}  // namespace shoal::collectives
