// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over TCP: a hub at rank 0 adds in the order of ranks and sends the result out.
//
// Meant for a few ranks on CPUs: the hub moves (world_size - 1) times the data each way.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"

namespace shoal::collectives {

struct SocketReducerOptions {
  // For all ranks to come.
  std::chrono::milliseconds join_timeout = std::chrono::seconds(120);
  // For one rank's part in one collective.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(600);
};

class SocketReducer final : public GradientReducer {
 public:
  // Blocks until all ranks are there. DEADLINE_EXCEEDED naming who is missing, FAILED_PRECONDITION
  // when the address cannot be bound or a rank of another world size comes.
  static absl::StatusOr<std::unique_ptr<SocketReducer>> Create(const RankEnvironment& environment,
                                                               const SocketReducerOptions& options);
  ~SocketReducer() override;

  std::int64_t rank() const override { return rank_; }
  std::int64_t world_size() const override { return world_size_; }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status AllReduceSum(std::span<double> values) override;
  absl::Status AllReduceMax(std::span<double> values) override;
  absl::Status AllReduceMin(std::span<double> values) override;
  absl::Status Broadcast(std::span<std::byte> bytes) override;
  absl::Status Barrier() override;

 private:
  SocketReducer(std::int64_t rank, std::int64_t world_size, const SocketReducerOptions& options);

  absl::Status AcceptAll(int listener);
  absl::Status Introduce(int peer);
  absl::Status Connect(const RankEnvironment& environment);
  template <typename T, typename Combine>
  absl::Status AllReduce(std::span<T> values, std::uint32_t kind, Combine combine);

  const std::int64_t rank_;
  const std::int64_t world_size_;
  const SocketReducerOptions options_;
  // Rank 0: by rank, its own -1; other ranks: one socket, to rank 0.
  std::vector<int> peers_;
  // Counts collectives: two ranks that differ are out of step.
  std::uint64_t sequence_ = 0;
};

}  // namespace shoal::collectives
