// SPDX-License-Identifier: Apache-2.0
// The interface between training and the communication of its ranks: sums that have the same bits
// on every rank, and again when the same ranks add the same numbers.
//
// Compressed sums send half as many bytes (rounded_sum.h). What rounding takes of them stays with
// the ranks, in arrays of the caller, and is added to the next sum.
//
// ReduceScatterSum and AllGather divide an array among the ranks, one share for each
// (rank_share.h). The first followed by the second is AllReduceSum, with the same bits.
//
// Every rank makes the same calls in the same order with the same sizes, from one thread at a time.
// Each call ends within GroupOptions::call_timeout plus four seconds. All ranks of the group see
// the same error:
//   UNAVAILABLE        a rank was lost; the message names it
//   DEADLINE_EXCEEDED  a rank did not come in time; the message names it
//   ABORTED            a rank failed alone and said so (Abort); the message names it and its reason
//   INTERNAL           two ranks are out of step
// After an error the group is unusable and every later call returns the same error, so the process
// must end and start again. A rank that is busy between two calls learns of a failure at its next
// call.
//
// When every rank finds a failure in the same reduced numbers, the group stays in step. Such a
// failure carries a mark (SharedFailure), and training may go on after it. A failure without the
// mark happened on this rank alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/rank_progress.h"

namespace shoal::collectives {

// What a rank has spent on collective calls since it joined.
struct Communication {
  std::uint64_t calls = 0;
  // Of the arrays that were passed in, those of compressed sums as they are sent. What a transport
  // makes of them is its own matter.
  std::uint64_t bytes = 0;
  // Time within calls. Where they are made by the thread that computes, it did nothing else then.
  double seconds = 0;
};

class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t world_size() const = 0;
  // The GPU whose memory AllReduceSum, ReduceScatterSum and AllGather of floats take as they take
  // the host's, or -1 where there is none. They wait for all work that was queued there on the
  // default stream, and end when theirs is done.
  virtual std::int64_t gpu() const { return -1; }

  // Replaces each element by its sum (maximum, minimum) over the ranks.
  virtual absl::Status AllReduceSum(std::span<float> values) = 0;
  virtual absl::Status AllReduceSum(std::span<double> values) = 0;
  // Replaces each element by its sum over the ranks, which is rounded to bfloat16 on its way and
  // has the same bits on all of them. `residual` is this rank's own: it holds what rounding took of
  // the sums before, all zeros before the first one, and afterwards what it took of this one too.
  // It stays finite; sums that are not stay what they are. Where compresses() is false this is
  // AllReduceSum, and `residual` stays as it is. FAILED_PRECONDITION for a transport that cannot;
  // then nothing has changed. After another error `values` are as they were, but of `residual` some
  // numbers are those of before and some those of a sum that no rank can use: clear it before it
  // is used in another group.
  // REQUIRES: equal sizes.
  virtual absl::Status AllReduceSumCompressed(std::span<float> values, std::span<float> residual);
  // Whether compressed sums of so many elements are rounded, the same on all ranks: not those of
  // one rank, nor over sockets those that go over rank 0, which are small.
  virtual bool compresses(std::size_t) const { return false; }
  virtual absl::Status AllReduceMax(std::span<double> values) = 0;
  virtual absl::Status AllReduceMin(std::span<double> values) = 0;
  // Replaces this rank's share of `values` by its sum over the ranks. What the other shares then
  // hold is not defined.
  virtual absl::Status ReduceScatterSum(std::span<float> values) = 0;
  // Copies each rank's share of `values` to all ranks.
  virtual absl::Status AllGather(std::span<float> values) = 0;
  // Copies the bytes of rank 0 to all ranks.
  virtual absl::Status Broadcast(std::span<std::byte> bytes) = 0;
  // Returns when every rank has called it.
  virtual absl::Status Barrier() = 0;
  // Tells every other rank that this rank has failed alone, and why. Does nothing when the group
  // has failed already. Returns soon, whatever the others do.
  virtual void Abort(const absl::Status& reason) = 0;
  // Gives up the connections to the other ranks for an exchange without steps in common
  // (gradient_hub.h): sockets by rank, -1 for this one. Rank 0 is connected to all others, the
  // others to rank 0 alone; a ring is closed. The caller closes them. Like the other calls it
  // returns when every rank has made it. No other one is allowed after that, except rank,
  // world_size, communication and Abort, which then does nothing. FAILED_PRECONDITION for a
  // transport without sockets.
  virtual absl::StatusOr<std::vector<int>> TakeConnections();
  // Returns the group of the ranks that gave the same `colour` as this one, in the order of their
  // ranks, as MPI_Comm_split does; all ranks call it. The group has connections, deadlines and
  // errors of its own; errors number its ranks from 0 and name their numbers in this group. Its
  // options are those of this group, but it has to form within the time of one call. A failure ends
  // only the group in which it happens, so whoever uses several groups has to abort all of them.
  // This group need not outlive it. INVALID_ARGUMENT for a colour that is not from 0 to 2^31 - 1;
  // also the errors of a call, and FAILED_PRECONDITION for a transport that cannot.
  virtual absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t colour);
  // Returns zeros for a reducer that does not measure. The one that JoinGroup returns for several
  // ranks does.
  virtual Communication communication() const { return {}; }
};

// INVALID_ARGUMENT for a colour that GradientReducer::Split does not take.
absl::Status CheckColour(std::int64_t colour);

// A group of one rank, in which every call is the identity. The rank may keep the number that it
// has in a larger group, with which it only exchanges gradients.
class SingleRank final : public GradientReducer {
 public:
  explicit SingleRank(std::int64_t rank = 0) : rank_(rank) {}

  std::int64_t rank() const override { return rank_; }
  std::int64_t world_size() const override { return 1; }
  absl::Status AllReduceSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllReduceSum(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceSumCompressed(std::span<float>, std::span<float>) override {
    return absl::OkStatus();
  }
  absl::Status AllReduceMax(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMin(std::span<double>) override { return absl::OkStatus(); }
  absl::Status ReduceScatterSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllGather(std::span<float>) override { return absl::OkStatus(); }
  absl::Status Broadcast(std::span<std::byte>) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  absl::StatusOr<std::vector<int>> TakeConnections() override { return std::vector<int>{-1}; }
  absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t colour) override;

 private:
  const std::int64_t rank_;
};

// Returns INTERNAL with the mark that every rank returns this error at this point of its work. Use
// it only for verdicts on reduced numbers.
absl::Status SharedFailure(std::string message);
// Returns true for an error with that mark, also after runtime::Annotate.
bool IsShared(const absl::Status& status);

// The transport between ranks.
enum class Reduction {
  kSocket,  // socket_reducer.h
  kNccl,    // nccl_reducer.h
};
// Returns what flags and configurations call "socket" or "nccl". REQUIRES: one of these.
Reduction ReductionNamed(const std::string& name);

struct GroupOptions {
  Reduction reduction = Reduction::kSocket;
  // Over NCCL: returns the GPU on which the process with this LOCAL_RANK computes. Without it the
  // GPU has the number of the process.
  std::function<absl::StatusOr<std::int64_t>(std::int64_t local_rank)> find_gpu = {};
  // The time within which all ranks must join.
  std::chrono::milliseconds join_timeout = std::chrono::seconds(120);
  // The time within which every rank must do its part of one call. It bounds how far one rank may
  // fall behind another between two calls, its own work included.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(600);
  // Over sockets, reductions of at least so many bytes go around a ring of the ranks, and smaller
  // ones over rank 0, which takes fewer steps. 0 makes no ring. The same on all ranks.
  std::int64_t ring_min_bytes = std::int64_t{1} << 18;
  // Where a launched rank reports its calls (Launched::progress in launch.h), or null.
  RankProgress* progress = nullptr;
};

// Joins the group that RANK, WORLD_SIZE, MASTER_ADDR, ... describe (launch.h) and waits until all
// ranks are there. Returns a SingleRank when there is no group or it has one member, and
// FAILED_PRECONDITION for several ranks over kNccl in a build without SHOAL_CUDA. Besides the
// errors of a call and of GroupOptions::find_gpu it returns ABORTED when this rank is of an older
// epoch than the group, which a restart has left behind.
absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup(const GroupOptions& options = {});

}  // namespace shoal::collectives
