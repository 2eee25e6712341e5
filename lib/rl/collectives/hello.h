// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other before they are a group (rendezvous.h). Ranks of one group have the
// same processor architecture, so the messages are the bytes of these structures.
#pragma once

#include <array>
#include <cstdint>

#include "rl/collectives/call_header.h"

namespace shoal::collectives {

// The first message of a rank to rank 0 or to the next one of the ring, and rank 0's answer.
struct Hello {
  std::uint32_t magic = kRankMagic;
  std::uint32_t rank = 0;
  std::uint64_t epoch = 0;
  std::uint32_t world_size = 0;
  // Where the rank waits for the one before it, or 0 without a ring.
  std::uint32_t ring_port = 0;
};

// Rank 0's second message with a ring: where the next rank listens, as a numeric address that ends
// with a zero byte.
struct Neighbour {
  std::array<char, 64> address{};
  std::uint16_t port = 0;
};

}  // namespace shoal::collectives
