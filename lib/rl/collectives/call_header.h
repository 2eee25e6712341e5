// SPDX-License-Identifier: Apache-2.0
// What precedes each part of a collective call between two ranks, so that ranks that are out of
// step are detected and not summed.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::collectives {

// The first four bytes of everything that ranks send at the beginning of something.
inline constexpr std::uint32_t kRankMagic = 0x53484f4c;

enum class CallKind : std::uint32_t {
  kSumFloat = 1,
  kSumDouble,
  kMax,
  kMin,
  kBroadcast,
  kBarrier,
  // A failure that ended the group, in place of a call: `sequence` is a status code, and `bytes` of
  // text follow.
  kFailure,
  // Rank 0 asks who is in the call that does not end, and a rank says that it is.
  kAsk,
  kHere,
  kScatterSum,
  kGather,
  // Messages of ranks that do not wait for one another (gradient_message.h).
  kContribution,
  kSharedParameters,
  kSumRounded,
};

// The names of messages: "sum of floats", "barrier", and so on, or "unknown kind 77".
std::string ToString(CallKind kind);

struct CallHeader {
  CallKind kind = CallKind::kBarrier;
  std::uint32_t magic = kRankMagic;
  // The number of the call in its group, from 1 on.
  std::uint64_t sequence = 0;
  // Of the array.
  std::uint64_t bytes = 0;
  // 1 for an array that goes around the ring, 0 otherwise.
  std::uint64_t around_ring = 0;

  friend bool operator==(const CallHeader&, const CallHeader&) = default;
};

// Returns the error of a rank, `peer`, that sent `header` where `own` was expected. It names the
// kinds of both calls.
absl::Status OutOfStep(const std::string& peer, const CallHeader& header, const CallHeader& own);

}  // namespace shoal::collectives
