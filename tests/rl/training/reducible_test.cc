// SPDX-License-Identifier: Apache-2.0
#include "rl/training/reducible.h"

#include <ATen/ops/ones.h>

#include <catch2/catch.hpp>

namespace shoal::training {
namespace {

// A rank over NCCL on GPU 1.
class OnSecondGpu final : public collectives::GradientReducer {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t world_size() const override { return 2; }
  std::int64_t gpu() const override { return 1; }
  absl::Status AllReduceSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllReduceSum(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMax(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMin(std::span<double>) override { return absl::OkStatus(); }
  absl::Status ReduceScatterSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllGather(std::span<float>) override { return absl::OkStatus(); }
  absl::Status Broadcast(std::span<std::byte>) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
};

at::Device Gpu(int index) { return {at::kCUDA, static_cast<at::DeviceIndex>(index)}; }

TEST_CASE("only the GPU of the reducer is summed in place, and the host's memory always") {
  const OnSecondGpu over_nccl;
  REQUIRE(Takes(over_nccl, Gpu(1)));
  REQUIRE_FALSE(Takes(over_nccl, Gpu(0)));
  REQUIRE(Takes(over_nccl, at::kCPU));
  const collectives::SingleRank over_sockets;
  REQUIRE_FALSE(Takes(over_sockets, Gpu(0)));
  REQUIRE(Takes(over_sockets, at::kCPU));
}

TEST_CASE("what the reducer takes is not copied") {
  const at::Tensor tensor = at::ones({3});
  REQUIRE(Reducible(collectives::SingleRank(), tensor).is_same(tensor));
}

}  // namespace
}  // namespace shoal::training
