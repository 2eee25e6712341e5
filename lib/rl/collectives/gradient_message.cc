// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_message.h"

#include <span>
#include <string_view>

#include "rl/collectives/call_header.h"
#include "rl/collectives/rank_failure.h"

namespace shoal::collectives {
namespace {

// What a message begins with. `bytes` of `call` are those of the floats.
struct MessageHeader {
  CallHeader call;
  std::uint64_t epoch = 0;
  std::uint64_t updates = 0;
  // The fate of a contribution.
  std::uint32_t fate = 0;
  // Whether the rank leaves, or is to leave.
  std::uint32_t ends = 0;
  std::uint64_t note_bytes = 0;

  std::uint64_t floats() const { return call.bytes / sizeof(float); }
};

CallHeader HeaderOf(CallKind kind, const std::vector<float>& floats) {
  return {.kind = kind, .bytes = floats.size() * sizeof(float)};
}

absl::Status SendParts(int socket, const MessageHeader& header, std::span<const float> floats,
                       std::string_view note, Deadline deadline, const std::string& peer) {
  SHOAL_RETURN_IF_ERROR(SendValue(socket, header, deadline, peer));
  SHOAL_RETURN_IF_ERROR(SendAll(socket, std::as_bytes(floats), deadline, peer));
  return SendAll(socket, std::as_bytes(std::span(note)), deadline, peer);
}

absl::Status NoMessage(const std::string& peer, const std::string& why) {
  return runtime::Internal(peer + " sent what is no message of this exchange: " + why);
}

// Returns a header of that kind, or the peer's failure.
absl::StatusOr<MessageHeader> ReceiveMessageHeader(int socket, CallKind kind,
                                                   const MessageLimits& limits, Deadline deadline,
                                                   const std::string& peer) {
  MessageHeader header;
  SHOAL_RETURN_IF_ERROR(ReceiveValue(socket, header.call, deadline, peer));
  if (IsFailure(header.call)) return HearFailure(socket, header.call, deadline, peer);
  if (header.call.magic != kRankMagic || header.call.kind != kind) {
    return NoMessage(peer, ToString(header.call.kind));
  }
  if (header.call.bytes % sizeof(float) != 0) {
    return NoMessage(peer, std::to_string(header.call.bytes) + " bytes of numbers");
  }
  const auto rest = std::as_writable_bytes(std::span(&header, 1)).subspan(sizeof header.call);
  SHOAL_RETURN_IF_ERROR(ReceiveAll(socket, rest, deadline, peer));
  if (header.note_bytes > limits.max_note_bytes) {
    return NoMessage(peer, "a note of " + std::to_string(header.note_bytes) + " bytes, at most " +
                               std::to_string(limits.max_note_bytes));
  }
  return header;
}

absl::Status ReceiveParts(int socket, const MessageHeader& header, std::vector<float>& floats,
                          std::string& note, Deadline deadline, const std::string& peer) {
  floats.resize(static_cast<std::size_t>(header.floats()));
  note.resize(static_cast<std::size_t>(header.note_bytes));
  SHOAL_RETURN_IF_ERROR(
      ReceiveAll(socket, std::as_writable_bytes(std::span(floats)), deadline, peer));
  return ReceiveAll(socket, std::as_writable_bytes(std::span(note)), deadline, peer);
}

}  // namespace

const char* ToString(GradientFate fate) {
  switch (fate) {
    case GradientFate::kNone:
      return "none";
    case GradientFate::kApplied:
      return "applied";
    case GradientFate::kStale:
      return "stale";
    case GradientFate::kRefused:
      return "refused";
  }
  return "";
}

absl::Status Send(int socket, const Contribution& contribution, Deadline deadline,
                  const std::string& peer) {
  const MessageHeader header{.call = HeaderOf(CallKind::kContribution, contribution.gradient),
                             .epoch = contribution.from.epoch,
                             .updates = contribution.from.updates,
                             .ends = contribution.leaves ? 1U : 0U,
                             .note_bytes = contribution.note.size()};
  return SendParts(socket, header, contribution.gradient, contribution.note, deadline, peer);
}

absl::Status Send(int socket, const SharedParameters& shared, Deadline deadline,
                  const std::string& peer) {
  const MessageHeader header{.call = HeaderOf(CallKind::kSharedParameters, shared.values),
                             .epoch = shared.number.epoch,
                             .updates = shared.number.updates,
                             .fate = static_cast<std::uint32_t>(shared.fate),
                             .ends = shared.stop ? 1U : 0U,
                             .note_bytes = shared.note.size()};
  return SendParts(socket, header, shared.values, shared.note, deadline, peer);
}

absl::StatusOr<Contribution> ReceiveContribution(int socket, const MessageLimits& limits,
                                                 Deadline deadline, const std::string& peer) {
  SHOAL_ASSIGN_OR_RETURN(
      const MessageHeader header,
      ReceiveMessageHeader(socket, CallKind::kContribution, limits, deadline, peer));
  if (header.floats() != 0 && header.floats() != limits.gradient_size) {
    return NoMessage(peer, "a gradient of " + std::to_string(header.floats()) + " numbers, not " +
                               std::to_string(limits.gradient_size));
  }
  Contribution contribution{.from = {header.epoch, header.updates}, .leaves = header.ends != 0};
  SHOAL_RETURN_IF_ERROR(
      ReceiveParts(socket, header, contribution.gradient, contribution.note, deadline, peer));
  return contribution;
}

absl::StatusOr<SharedParameters> ReceiveShared(int socket, const MessageLimits& limits,
                                               Deadline deadline, const std::string& peer) {
  SHOAL_ASSIGN_OR_RETURN(
      const MessageHeader header,
      ReceiveMessageHeader(socket, CallKind::kSharedParameters, limits, deadline, peer));
  if (header.fate > static_cast<std::uint32_t>(GradientFate::kRefused)) {
    return NoMessage(peer, "a gradient's fate of " + std::to_string(header.fate));
  }
  if (header.floats() > limits.max_values) {
    return NoMessage(peer, std::to_string(header.floats()) + " parameters, at most " +
                               std::to_string(limits.max_values));
  }
  SharedParameters shared{.number = {header.epoch, header.updates},
                          .fate = static_cast<GradientFate>(header.fate),
                          .stop = header.ends != 0};
  SHOAL_RETURN_IF_ERROR(ReceiveParts(socket, header, shared.values, shared.note, deadline, peer));
  return shared;
}

}  // namespace shoal::collectives
