// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_failure.h"

#include <span>

namespace shoal::collectives {
namespace {

// The longest text that is sent or accepted.
constexpr std::size_t kMaxFailureText = 4096;

}  // namespace

bool IsFailure(const CallHeader& header) {
  return header.magic == kRankMagic && header.kind == CallKind::kFailure;
}

absl::Status TellFailure(int socket, const absl::Status& failure, Deadline deadline,
                         const std::string& peer) {
  const std::string text = runtime::Message(failure).substr(0, kMaxFailureText);
  const CallHeader header{.kind = CallKind::kFailure,
                          .sequence = static_cast<std::uint64_t>(failure.code()),
                          .bytes = text.size()};
  SHOAL_RETURN_IF_ERROR(SendValue(socket, header, deadline, peer));
  return SendAll(socket, std::as_bytes(std::span(text)), deadline, peer);
}

absl::Status HearFailure(int socket, const CallHeader& header, Deadline deadline,
                         const std::string& peer) {
  if (header.bytes > kMaxFailureText || header.sequence == 0 || header.sequence > 16) {
    return runtime::Internal(peer + " tells of a failure that makes no sense");
  }
  std::string text(static_cast<std::size_t>(header.bytes), '\0');
  SHOAL_RETURN_IF_ERROR(
      ReceiveAll(socket, std::as_writable_bytes(std::span(text)), deadline, peer));
  return absl::Status(static_cast<absl::StatusCode>(header.sequence), text);
}

}  // namespace shoal::collectives
