// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over TCP. Large arrays go around a ring of the ranks (ring.h); small ones, and
// all else, go over rank 0, which adds in the order of ranks and sends the result out.
//
// Rank 0 has the last word on every failure: the others report to it what they see and wait for its
// verdict, so that all ranks get the error that names the rank at fault, unless rank 0 itself is
// lost. It prefers what a rank says of itself to what another one says of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/call_header.h"
#include "rl/collectives/elementwise.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/rendezvous.h"
#include "rl/collectives/ring.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {

class SocketReducer final : public GradientReducer {
 public:
  // Blocks until all ranks are there. Returns the errors of LinkRanks (rendezvous.h).
  static absl::StatusOr<std::unique_ptr<SocketReducer>> Create(const RankEnvironment& environment,
                                                               const GroupOptions& options);

  std::int64_t rank() const override { return rank_; }
  std::int64_t world_size() const override { return world_size_; }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status AllReduceSum(std::span<double> values) override;
  bool compresses(std::size_t elements) const override;
  absl::Status AllReduceSumCompressed(std::span<float> values, std::span<float> residual) override;
  absl::Status AllReduceMax(std::span<double> values) override;
  absl::Status AllReduceMin(std::span<double> values) override;
  absl::Status ReduceScatterSum(std::span<float> values) override;
  absl::Status AllGather(std::span<float> values) override;
  absl::Status Broadcast(std::span<std::byte> bytes) override;
  absl::Status Barrier() override;
  void Abort(const absl::Status& reason) override;
  absl::StatusOr<std::vector<int>> TakeConnections() override;
  absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t colour) override;
  // Returns OK while the group is whole. It never waits for a rank, so a caller that blocks
  // elsewhere may call it repeatedly. REQUIRES: no other rank is in a call.
  absl::Status CheckPeers();

 private:
  SocketReducer(const RankEnvironment& environment, const GroupOptions& options, RankLinks links);

  // Whether the ring takes a reduction or a gathering of so many bytes.
  bool GoesAround(std::size_t bytes, std::size_t element_bytes) const;
  // Run one call on `bytes`; the first one finds out whether it goes around the ring.
  absl::Status Call(std::span<std::byte> bytes, CallKind kind, const Elementwise& operation);
  absl::Status Call(std::span<std::byte> bytes, CallKind kind, const Elementwise& operation,
                    bool around);
  // What `rank` sends to rank 0 of the array of a call, and what it gets back.
  std::span<std::byte> SentUp(std::span<std::byte> bytes, CallKind kind, std::int64_t rank) const;
  std::span<std::byte> SentDown(std::span<std::byte> bytes, CallKind kind, std::int64_t rank) const;
  // Rank 0 calls this: it receives the parts of all others and sends them the result.
  absl::Status Gather(std::span<std::byte> bytes, const CallHeader& own,
                      const Elementwise& operation, Deadline deadline);
  absl::Status AwaitHeaders(const CallHeader& own, Deadline deadline);
  // The other ranks call this: they send their part and receive the result from rank 0.
  absl::Status Exchange(std::span<std::byte> bytes, const CallHeader& own, Deadline deadline);

  // Makes the call over the ring.
  absl::Status PassAround(std::span<std::byte> bytes, const CallHeader& own,
                          const Elementwise& operation, Deadline deadline);
  // Waits until the ring moves, and hears what comes from the star meanwhile.
  absl::Status AwaitRing(const CallHeader& own, Deadline deadline);
  // Reads one message of `rank`, which has to be whole by `latest`.
  absl::Status HearDuringRing(std::int64_t rank, const CallHeader& own, Deadline latest);
  // Returns the error of ranks that are late, which rank 0 finds out by asking.
  absl::Status FindLate(const CallHeader& own);
  // Returns what rank 0 makes of `finding`, an error that this rank has come upon in the ring, and
  // that rank 0 was lost if it says nothing any more.
  absl::Status Verdict(const absl::Status& finding, Deadline deadline);
  // Rank 0 calls this for a rank that another one says is lost. Returns what that rank says itself,
  // if it does so soon, and `finding` otherwise.
  absl::Status Overrule(const absl::Status& finding);

  // Reads what `rank` sends first: the header that `own` expects, or a failure.
  absl::Status ReceiveHeader(std::int64_t rank, const CallHeader& own, Deadline deadline);
  // Reads the next header of `rank`. After that of a failure its text follows.
  absl::StatusOr<CallHeader> NextHeader(std::int64_t rank, Deadline deadline);
  // Stores `failure` as the result of every later call, and tells the reachable ranks of it.
  absl::Status Fail(const absl::Status& failure);
  // Returns `status` with the numbers that the ranks have in the group that was split.
  absl::Status Numbered(const absl::Status& status) const;
  std::chrono::milliseconds AnswerTime() const;
  // Whether `rank` has sent something, or is gone.
  bool HasNews(std::int64_t rank) const;
  int socket(std::int64_t rank) const { return links_.star[static_cast<std::size_t>(rank)]; }
  // The ranks that this one has a connection to, beside the ring.
  std::vector<std::int64_t> Connected() const;
  std::optional<CallHeader>& ahead(std::int64_t rank) {
    return ahead_[static_cast<std::size_t>(rank)];
  }

  const std::int64_t rank_;
  const std::int64_t world_size_;
  const std::uint64_t epoch_;
  const GroupOptions options_;
  // What errors say of the numbers of the ranks; empty in a group that was not split off.
  std::string numbering_;
  RankLinks links_;
  std::unique_ptr<Ring> ring_;
  // What compressed sums send.
  std::vector<std::uint16_t> rounded_;
  // The number of calls so far. Two ranks with different numbers are out of step.
  std::uint64_t sequence_ = 0;
  // By rank: the header of its next call, if it was read while this one went around the ring.
  std::vector<std::optional<CallHeader>> ahead_;
  // By rank, of the call that goes around the ring. At rank 0: whether the rank's header has come,
  // and whether it said since that it is in that call.
  std::vector<bool> came_;
  std::vector<bool> here_;
  // Whether the rank is through with the call, or has closed its connection (gone_).
  std::vector<bool> left_;
  absl::Status gone_;
  // The error that ended the group.
  absl::Status failure_;
};

}  // namespace shoal::collectives
