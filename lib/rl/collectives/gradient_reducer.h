// SPDX-License-Identifier: Apache-2.0
// The seam between training and the way in which its ranks talk: sums that are the same bits on
// every rank.
//
// Every rank makes the same calls in the same order with the same sizes, from one thread. Each call
// ends within GroupOptions::call_timeout and four seconds. The errors are, on every rank of the
// group:
//   UNAVAILABLE        a rank was lost; the message names it
//   DEADLINE_EXCEEDED  a rank did not come in time; the message names it
//   ABORTED            a rank failed alone and said so (Abort); the message names it and its reason
//   INTERNAL           two ranks are out of step
// After an error the group is of no use and every later call returns the same error: the process
// ends and is started again. A rank that works between two calls hears of a failure at its next
// one.
//
// A failure that every rank has found in the same reduced numbers leaves the group in step. It
// carries a mark (SharedFailure), and training may go on after it; a failure without the mark
// happened on this rank alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
  // Tells every other rank that this one has failed alone and why. Does nothing when the group has
  // failed already. Returns soon, whatever the others do.
  virtual void Abort(const absl::Status& reason) = 0;
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
  void Abort(const absl::Status&) override {}
};

// INTERNAL with the mark that every rank returns this error at this point of its work. It is for
// verdicts on reduced numbers alone.
absl::Status SharedFailure(std::string message);
// True for an error with that mark, runtime::Annotate included.
bool IsShared(const absl::Status& status);

// What carries the values between ranks.
enum class Reduction {
  kSocket,  // socket_reducer.h
  kNccl,    // nccl_reducer.h; the GPU is the one of LOCAL_RANK
};

struct GroupOptions {
  Reduction reduction = Reduction::kSocket;
  // Time in which all ranks have to join.
  std::chrono::milliseconds join_timeout = std::chrono::seconds(120);
  // Time in which every rank has to do its part of one call. It bounds how far one rank may fall
  // behind another between two calls, its own work included.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(600);
};

// The group that RANK, WORLD_SIZE, MASTER_ADDR, ... describe (launch.h): a SingleRank when there is
// none or it has one member. Waits until all ranks are there. FAILED_PRECONDITION for several
// ranks over kNccl in a build without SHOAL_CUDA.
absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup(const GroupOptions& options = {});

}  // namespace shoal::collectives
