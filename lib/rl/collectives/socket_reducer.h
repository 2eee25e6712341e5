// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over TCP: a hub at rank 0 adds in the order of ranks and sends the result out.
//
// It is meant for a few ranks on CPUs, since the hub moves (world_size - 1) times the data each
// way. The hub forwards every failure, so that all ranks get the error that names the rank at
// fault, unless the hub itself is lost.
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
  // Blocks until all ranks are there. DEADLINE_EXCEEDED names the missing ranks;
  // FAILED_PRECONDITION means that the address cannot be bound or that a rank of another world size
  // came. Ranks of different epochs do not join: rank 0 turns older ones away and goes on waiting,
  // and each older one ends with ABORTED, rank 0 included. A newer rank tries again until a rank 0
  // of its epoch listens.
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
  absl::StatusOr<std::vector<int>> TakeConnections() override;
  // Returns OK while the group is whole. It never waits for a rank, so a caller that blocks
  // elsewhere may call it repeatedly. REQUIRES: no other rank is in a call.
  absl::Status CheckPeers();

 private:
  struct Header;

  SocketReducer(const RankEnvironment& environment, const GroupOptions& options);

  absl::Status AcceptAll(int listener);
  // Returns whether `peer` has become one of peers_. Otherwise it is closed.
  absl::StatusOr<bool> Introduce(int peer);
  absl::Status Connect(const RankEnvironment& environment);
  // Returns the error of a rank that a restart of its group has left behind.
  absl::Status LeftBehind(std::uint64_t newer, const std::string& peer) const;
  // Asks rank 0 to let this rank in. Returns the epoch of its group.
  absl::StatusOr<std::uint64_t> Ask(const RankEnvironment& environment, Deadline deadline);
  template <typename T, typename Combine>
  absl::Status AllReduce(std::span<T> values, std::uint32_t kind, Combine combine);
  // Rank 0 calls this: it receives the parts of all others and sends them the result.
  template <typename T, typename Combine>
  absl::Status Gather(std::span<T> values, const Header& own, Combine combine, Deadline deadline);
  absl::Status AwaitHeaders(const Header& own, Deadline deadline);
  // The other ranks call this: they send their part and receive the result from rank 0.
  absl::Status Exchange(std::span<std::byte> bytes, const Header& own, Deadline deadline);
  // Reads what `rank` sends first: the header that `own` expects, or a failure.
  absl::Status ReceiveHeader(std::int64_t rank, const Header& own, Deadline deadline);
  absl::Status ReceiveFailure(const Header& header, std::int64_t rank, Deadline deadline);
  // Stores `failure` as the result of every later call, and tells the reachable ranks of it.
  absl::Status Fail(const absl::Status& failure);
  int socket(std::int64_t rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  // The ranks that this one has a connection to.
  std::vector<std::int64_t> Connected() const;

  const std::int64_t rank_;
  const std::int64_t world_size_;
  const std::uint64_t epoch_;
  const GroupOptions options_;
  // Sockets by rank, -1 where there is none. Rank 0 is connected to every other rank; the others
  // are connected to rank 0 only.
  std::vector<int> peers_;
  // The number of calls so far. Two ranks with different numbers are out of step.
  std::uint64_t sequence_ = 0;
  // The error that ended the group.
  absl::Status failure_;
};

}  // namespace shoal::collectives
