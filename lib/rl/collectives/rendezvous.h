// SPDX-License-Identifier: Apache-2.0
// Brings the ranks of a group together over TCP.
//
// Every rank connects to rank 0, whose address all of them know. With a ring, rank 0 then tells
// each where the next one listens, at a port of the kernel's choice and the address that the rank
// has in its connection to rank 0. Neighbours in one network namespace are connected without TCP
// (socket.h).
#pragma once

#include <cstdint>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"

namespace shoal::collectives {

// Connections of a rank, which closes them at its end.
class RankLinks {
 public:
  explicit RankLinks(std::int64_t world_size) : star(static_cast<std::size_t>(world_size), -1) {}
  ~RankLinks();
  RankLinks(RankLinks&& other) noexcept;
  RankLinks(const RankLinks&) = delete;
  RankLinks& operator=(const RankLinks&) = delete;

  // Sockets by rank, -1 where there is none. Rank 0 is connected to every other rank; the others
  // are connected to rank 0 only.
  std::vector<int> star;
  // The neighbours in the ring, or -1 without a ring.
  int next = -1;
  int previous = -1;
};

// Blocks until all ranks are there. `with_ring` is the same on all ranks. DEADLINE_EXCEEDED names
// the missing ranks, or the neighbour in the ring that no connection was made to;
// FAILED_PRECONDITION means that an address cannot be bound or that a rank of another world size
// came. UNAVAILABLE names a rank that was lost while the ring was made: all ranks then end with an
// error, here or in their first call.
//
// Ranks of different epochs do not join: rank 0 turns older ones away and goes on waiting, and each
// older one ends with ABORTED, rank 0 included. Once its group is whole, rank 0 listens no more. A
// newer rank tries again until a rank 0 of its epoch listens.
absl::StatusOr<RankLinks> LinkRanks(const RankEnvironment& environment, bool with_ring,
                                    std::chrono::milliseconds join_timeout);

}  // namespace shoal::collectives
