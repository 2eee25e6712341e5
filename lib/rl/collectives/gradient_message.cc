// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_message.h"

#include <span>
#include <string_view>

namespace shoal::collectives {
namespace {

constexpr std::uint32_t kExchangeMagic = 0x53484741;
constexpr std::size_t kMostFailureText = 4096;

enum MessageKind : std::uint32_t { kContributionMessage = 1, kSharedMessage, kFailureMessage };

struct MessageHeader {
  std::uint32_t kind = 0;
  std::uint32_t magic = kExchangeMagic;
  std::uint64_t epoch = 0;
  std::uint64_t updates = 0;
  // The fate, or the status code of a failure.
  std::uint32_t code = 0;
  // Whether the rank leaves, or is to leave.
  std::uint32_t ends = 0;
  std::uint64_t floats = 0;
  std::uint64_t note_bytes = 0;
};

absl::Status SendParts(int socket, const MessageHeader& header, std::span<const float> floats,
                       std::string_view note, Deadline deadline, const std::string& peer) {
  SHOAL_RETURN_IF_ERROR(SendValue(socket, header, deadline, peer));
  SHOAL_RETURN_IF_ERROR(SendAll(socket, std::as_bytes(floats), deadline, peer));
  return SendAll(socket, std::as_bytes(std::span(note)), deadline, peer);
}

absl::Status NoMessage(const std::string& peer, const std::string& why) {
  return runtime::Internal(peer + " sent what is no message of this exchange: " + why);
}

absl::Status ReceiveTold(int socket, const MessageHeader& header, Deadline deadline,
                         const std::string& peer) {
  if (header.note_bytes > kMostFailureText || header.code == 0 || header.code > 16) {
    return NoMessage(peer, "a failure of code " + std::to_string(header.code) + " and " +
                               std::to_string(header.note_bytes) + " bytes");
  }
  std::string text(static_cast<std::size_t>(header.note_bytes), '\0');
  SHOAL_RETURN_IF_ERROR(
      ReceiveAll(socket, std::as_writable_bytes(std::span(text)), deadline, peer));
  return absl::Status(static_cast<absl::StatusCode>(header.code), text);
}

// Returns a header of that kind, or the peer's failure.
absl::StatusOr<MessageHeader> ReceiveMessageHeader(int socket, MessageKind kind,
                                                   const MessageLimits& limits, Deadline deadline,
                                                   const std::string& peer) {
  MessageHeader header;
  SHOAL_RETURN_IF_ERROR(ReceiveValue(socket, header, deadline, peer));
  if (header.magic == kExchangeMagic && header.kind == kFailureMessage) {
    return ReceiveTold(socket, header, deadline, peer);
  }
  if (header.magic != kExchangeMagic || header.kind != kind) {
    return NoMessage(peer, "kind " + std::to_string(header.kind));
  }
  if (header.note_bytes > limits.max_note_bytes) {
    return NoMessage(peer, "a note of " + std::to_string(header.note_bytes) + " bytes, at most " +
                               std::to_string(limits.max_note_bytes));
  }
  return header;
}

absl::Status ReceiveParts(int socket, const MessageHeader& header, std::vector<float>& floats,
                          std::string& note, Deadline deadline, const std::string& peer) {
  floats.resize(static_cast<std::size_t>(header.floats));
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
  const MessageHeader header{.kind = kContributionMessage,
                             .epoch = contribution.from.epoch,
                             .updates = contribution.from.updates,
                             .ends = contribution.leaves ? 1U : 0U,
                             .floats = contribution.gradient.size(),
                             .note_bytes = contribution.note.size()};
  return SendParts(socket, header, contribution.gradient, contribution.note, deadline, peer);
}

absl::Status Send(int socket, const SharedParameters& shared, Deadline deadline,
                  const std::string& peer) {
  const MessageHeader header{.kind = kSharedMessage,
                             .epoch = shared.number.epoch,
                             .updates = shared.number.updates,
                             .code = static_cast<std::uint32_t>(shared.fate),
                             .ends = shared.stop ? 1U : 0U,
                             .floats = shared.values.size(),
                             .note_bytes = shared.note.size()};
  return SendParts(socket, header, shared.values, shared.note, deadline, peer);
}

absl::Status SendFailure(int socket, const absl::Status& failure, Deadline deadline,
                         const std::string& peer) {
  const std::string text = runtime::Message(failure).substr(0, kMostFailureText);
  const MessageHeader header{.kind = kFailureMessage,
                             .code = static_cast<std::uint32_t>(failure.code()),
                             .note_bytes = text.size()};
  return SendParts(socket, header, {}, text, deadline, peer);
}

absl::StatusOr<Contribution> ReceiveContribution(int socket, const MessageLimits& limits,
                                                 Deadline deadline, const std::string& peer) {
  SHOAL_ASSIGN_OR_RETURN(
      const MessageHeader header,
      ReceiveMessageHeader(socket, kContributionMessage, limits, deadline, peer));
  if (header.floats != 0 && header.floats != limits.gradient_size) {
    return NoMessage(peer, "a gradient of " + std::to_string(header.floats) + " numbers, not " +
                               std::to_string(limits.gradient_size));
  }
  Contribution contribution{.from = {header.epoch, header.updates}, .leaves = header.ends != 0};
  SHOAL_RETURN_IF_ERROR(
      ReceiveParts(socket, header, contribution.gradient, contribution.note, deadline, peer));
  return contribution;
}

absl::StatusOr<SharedParameters> ReceiveShared(int socket, const MessageLimits& limits,
                                               Deadline deadline, const std::string& peer) {
  SHOAL_ASSIGN_OR_RETURN(const MessageHeader header,
                         ReceiveMessageHeader(socket, kSharedMessage, limits, deadline, peer));
  if (header.code > static_cast<std::uint32_t>(GradientFate::kRefused)) {
    return NoMessage(peer, "a gradient's fate of " + std::to_string(header.code));
  }
  if (header.floats > limits.max_values) {
    return NoMessage(peer, std::to_string(header.floats) + " parameters, at most " +
                               std::to_string(limits.max_values));
  }
  SharedParameters shared{.number = {header.epoch, header.updates},
                          .fate = static_cast<GradientFate>(header.code),
                          .stop = header.ends != 0};
  SHOAL_RETURN_IF_ERROR(ReceiveParts(socket, header, shared.values, shared.note, deadline, peer));
  return shared;
}

}  // namespace shoal::collectives
