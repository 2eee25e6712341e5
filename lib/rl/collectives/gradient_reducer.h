// SPDX-License-Identifier: Apache-2.0
// The seam between training and however its ranks talk: sums that are the same bits on every rank.
//
// Every rank makes the same calls in the same order with the same sizes, from one thread. Errors:
// UNAVAILABLE naming the rank that was lost, DEADLINE_EXCEEDED naming the one that did not come.
// After an error the group is of no use: a rank is crash-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "platform/runtime/status.h"

namespace shoal::collectives {

class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t world_size() const = 0;

  // Each element becomes its sum (maximum, minimum) over the ranks.
  virtual absl::Status AllReduceSum(std::span<float> values) = 0;
  virtual absl::Status AllReduceSum(std::span<double> values) = 0;
  virtual absl::Status AllReduceMax(std::span<double> values) = 0;
  virtual absl::Status AllReduceMin(std::span<double> values) = 0;
  // All ranks get the bytes of rank 0.
  virtual absl::Status Broadcast(std::span<std::byte> bytes) = 0;
  // Returns when every rank has called it.
  virtual absl::Status Barrier() = 0;
};

// A group of one: every call is the identity.
class SingleRank final : public GradientReducer {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t world_size() const override { return 1; }
  absl::Status AllReduceSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllReduceSum(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMax(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMin(std::span<double>) override { return absl::OkStatus(); }
  absl::Status Broadcast(std::span<std::byte>) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
};

// What carries the values between ranks.
enum class Reduction {
  kSocket,  // socket_reducer.h
  kNccl,    // nccl_reducer.h; the GPU is the one of LOCAL_RANK
};

// The group that RANK, WORLD_SIZE, MASTER_ADDR, ... describe (launch.h): a SingleRank when there is
// none or it has one member. Waits until all ranks are there. FAILED_PRECONDITION for several
// ranks over kNccl in a build without SHOAL_CUDA.
absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup(
    Reduction reduction = Reduction::kSocket);

}  // namespace shoal::collectives
