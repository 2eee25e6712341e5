// SPDX-License-Identifier: Apache-2.0
// A rank's place in a ring of ranks, around which arrays are reduced: each rank sends to the next
// one and receives from the one before it.
//
// The array is cut into one segment for each rank (rank_share.h). Segment s sets out from rank
// s + 1, and each rank on its way combines its own part with what it receives; rank s has the
// result, which goes around once more (a reduce-scatter and an all-gather; Patarasuk and Yuan 2009,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations"). So a rank sends and
// receives 2 (W - 1) / W times the array, whatever the number W of ranks is, each element is
// combined in an order that only its place in the array decides, and all ranks get the same bits.
// Either half can be had alone.
//
// Nothing waits for a whole segment: what has arrived is combined and sent on.
//
//   ring.Begin(values, kSumOfFloats, header, Ring::Way::kAllReduce);
//   while (!ring.done()) {
//     SHOAL_ASSIGN_OR_RETURN(const bool moved, ring.Advance());
//     if (!moved) ...  // wait for ring.previous() if receives(), for ring.next() if sends()
//   }
//
// Used from one thread. After an error it can no longer be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/call_header.h"
#include "rl/collectives/elementwise.h"

namespace shoal::collectives {

class Ring {
 public:
  // What is done with an array.
  enum class Way {
    kAllReduce,      // both halves
    kReduceScatter,  // this rank's segment gets its result; the others keep parts of it
    kAllGather,      // this rank's segment goes to all ranks, and those of all ranks come
  };

  // Owns the sockets, which do not block: to rank + 1 and from rank - 1, modulo `world_size`, which
  // is 2 or more.
  Ring(std::int64_t rank, std::int64_t world_size, int next, int previous);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Begins with `values`, which stay with the caller until it is done. The header is sent ahead,
  // and the previous rank must send the same one. REQUIRES: nothing else is under way, and an
  // operation that only copies is for kAllGather.
  void Begin(std::span<std::byte> values, const Elementwise& operation, const CallHeader& header,
             Way way);
  // Sends, receives and combines what can be without waiting. Returns whether there was anything,
  // UNAVAILABLE when a neighbour is lost, or INTERNAL when the previous rank is out of step.
  absl::StatusOr<bool> Advance();
  // Whether `values` hold the result and everything is sent.
  bool done() const { return header_sent_ == sizeof header_ && send_.done() && !receives(); }
  // Whether there is something to send, and something to come.
  bool sends() const { return header_sent_ < sizeof header_ || Sendable() > 0; }
  bool receives() const { return heard_ < sizeof header_ || !receive_.done(); }

  int next() const { return next_; }
  int previous() const { return previous_; }

 private:
  // How far sending or receiving is: in which step, and where in its segment.
  struct Course {
    std::int64_t step = 0;
    std::size_t offset = 0;
    // Bytes of all steps.
    std::size_t moved = 0;
    std::size_t total = 0;

    bool done() const { return moved == total; }
  };

  // The segment that this rank sends in the given step: steps 0 to W - 2 add up, W - 1 to 2 W - 3
  // spread results. It receives the segment that it sends in the step after.
  std::span<std::byte> SegmentOf(std::int64_t step) const;
  Course CourseOf(std::int64_t first, std::int64_t steps) const;
  // Counts what was moved, and goes on to the next segment that is not empty.
  void Move(Course& course, std::size_t bytes) const;
  // The bytes of the current segment that are worth sending now.
  std::size_t Sendable() const;
  // The parts of Advance.
  absl::StatusOr<bool> SendHeader();
  absl::StatusOr<bool> ReceiveHeader();
  absl::StatusOr<bool> Send();
  absl::StatusOr<bool> Receive();
  absl::StatusOr<bool> ReceiveAndCombine(std::span<std::byte> rest);

  const std::int64_t rank_;
  const std::int64_t world_size_;
  const int next_;
  const int previous_;
  const std::string next_name_;
  const std::string previous_name_;
  std::span<std::byte> values_;
  Elementwise operation_;
  CallHeader header_;
  CallHeader heard_header_;
  // Bytes of the headers that were sent and received.
  std::size_t header_sent_ = sizeof(CallHeader);
  std::size_t heard_ = sizeof(CallHeader);
  // Bytes that can be sent before anything has come.
  std::size_t own_ = 0;
  Course send_;
  Course receive_;
  // What was received to be combined, and how much of an element that has not come whole.
  std::vector<std::byte> arrived_;
  std::size_t partial_ = 0;
};

}  // namespace shoal::collectives
