// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/call_header.h"

namespace shoal::collectives {
namespace {

std::string TextOf(const CallHeader& call) {
  return "call " + std::to_string(call.sequence) + " (" + ToString(call.kind) + ") of " +
         std::to_string(call.bytes) + " bytes " +
         (call.around_ring != 0 ? "around the ring" : "over rank 0");
}

}  // namespace

std::string ToString(CallKind kind) {
  switch (kind) {
    case CallKind::kSumFloat:
      return "sum of floats";
    case CallKind::kSumRounded:
      return "sum of floats in bfloat16";
    case CallKind::kSumDouble:
      return "sum of doubles";
    case CallKind::kMax:
      return "maximum";
    case CallKind::kMin:
      return "minimum";
    case CallKind::kBroadcast:
      return "broadcast";
    case CallKind::kBarrier:
      return "barrier";
    case CallKind::kFailure:
      return "failure";
    case CallKind::kAsk:
      return "question who is there";
    case CallKind::kHere:
      return "answer to who is there";
    case CallKind::kContribution:
      return "contribution";
    case CallKind::kSharedParameters:
      return "shared parameters";
    case CallKind::kScatterSum:
      return "scattered sum of floats";
    case CallKind::kGather:
      return "gathering of floats";
  }
  return "unknown kind " + std::to_string(static_cast<std::uint32_t>(kind));
}

absl::Status OutOfStep(const std::string& peer, const CallHeader& header, const CallHeader& own) {
  return runtime::Internal(peer + " is out of step: " + TextOf(header) + " against " + TextOf(own));
}

}  // namespace shoal::collectives
