// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over TCP: a hub at rank 0 adds in the order of ranks and sends the result out.
//
// It is meant for a few ranks on CPUs: the hub moves (world_size - 1) times the data each way. The
// hub passes every failure on, so that all ranks get the error that names the rank at fault, unless
// the hub itself is lost.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {

class SocketReducer final : public GradientReducer {
 public:
  // Blocks until all ranks are there. DEADLINE_EXCEEDED naming who is missing, FAILED_PRECONDITION
  // when the address cannot be bound or a rank of another world size comes.
  static absl::StatusOr<std::unique_ptr<SocketReducer>> Create(const RankEnvironment& environment,
                                                               const GroupOptions& options);
  ~SocketReducer() override;

  std::int64_t rank() const override { return rank_; }
  std::int64_t world_size() const override { return world_size_; }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status AllReduceSum(std::span<double> values) override;
  absl::Status AllReduceMax(std::span<double> values) override;
  absl::Status AllReduceMin(std::span<double> values) override;
  absl::Status Broadcast(std::span<std::byte> bytes) override;
  absl::Status Barrier() override;
  void Abort(const absl::Status& reason) override;
  // OK while the group is whole. It never waits for a rank, so that work which blocks elsewhere can
  // ask again and again. REQUIRES: no other rank is in a call.
  absl::Status CheckPeers();

 private:
  struct Header;

  SocketReducer(std::int64_t rank, std::int64_t world_size, const GroupOptions& options);

  absl::Status AcceptAll(int listener);
  absl::Status Introduce(int peer);
  absl::Status Connect(const RankEnvironment& environment);
  template <typename T, typename Combine>
  absl::Status AllReduce(std::span<T> values, std::uint32_t kind, Combine combine);
  // Of rank 0: the parts of all others, and the result to them.
  template <typename T, typename Combine>
  absl::Status Gather(std::span<T> values, const Header& own, Combine combine, Deadline deadline);
  absl::Status AwaitHeaders(const Header& own, Deadline deadline);
  // Of the other ranks: their own part, and the result from rank 0.
  absl::Status Exchange(std::span<std::byte> bytes, const Header& own, Deadline deadline);
  // Reads what comes from `rank` first: the header that `own` asks for, or a failure.
  absl::Status ReceiveHeader(std::int64_t rank, const Header& own, Deadline deadline);
  absl::Status ReceiveFailure(const Header& header, std::int64_t rank, Deadline deadline);
  // Keeps `failure` as what every later call returns, and tells it to the ranks that can be told.
  absl::Status Fail(const absl::Status& failure);
  int socket(std::int64_t rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  // The ranks that this one has a connection to.
  std::vector<std::int64_t> Connected() const;

  const std::int64_t rank_;
  const std::int64_t world_size_;
  const GroupOptions options_;
  // Sockets by rank, -1 where there is none. Rank 0 has one to each other rank, which have one to
  // rank 0.
  std::vector<int> peers_;
  // Number of calls so far: two ranks that differ are out of step.
  std::uint64_t sequence_ = 0;
  // What ended the group.
  absl::Status failure_;
};

}  // namespace shoal::collectives
