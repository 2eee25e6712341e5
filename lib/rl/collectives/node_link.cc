// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_link.h"

#include <unistd.h>

#include <array>
#include <span>
#include <string_view>

#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

constexpr std::size_t kMaxOutbox = std::size_t{64} << 10;
// So a peer that sends without end does not keep the others waiting.
constexpr std::size_t kReadAtOnce = 4096;

}  // namespace

NodeLink::~NodeLink() { ::close(socket_); }

absl::Status NodeLink::Send(const NodeMessage& message) {
  if (outbox_.size() > kMaxOutbox) return runtime::ResourceExhausted(peer_ + " does not read");
  outbox_ += Encode(message);
  return Flush();
}

absl::Status NodeLink::Flush() {
  while (!outbox_.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::size_t sent,
                           TrySend(socket_, std::as_bytes(std::span(outbox_)), peer_));
    if (sent == 0) break;
    outbox_.erase(0, sent);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeMessage>> NodeLink::Receive() {
  SHOAL_RETURN_IF_ERROR(end_);
  std::array<char, kReadAtOnce> bytes{};
  const absl::StatusOr<std::size_t> got =
      TryReceive(socket_, std::as_writable_bytes(std::span(bytes)), peer_);
  if (got.ok()) {
    inbox_.append(bytes.data(), *got);
  } else {
    end_ = got.status();
  }
  std::vector<NodeMessage> messages;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = inbox_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    auto message = end - begin < kMaxNodeLine
                       ? Decode(std::string_view(inbox_).substr(begin, end - begin))
                       : runtime::InvalidArgument("a line is too long");
    if (!message.ok()) {
      end_ = runtime::Annotate(message.status(), peer_);
      break;
    }
    messages.push_back(*std::move(message));
  }
  inbox_.erase(0, begin);
  if (end_.ok() && inbox_.size() >= kMaxNodeLine) {
    end_ = runtime::InvalidArgument(peer_ + ": a line is too long");
  }
  if (messages.empty() && !end_.ok()) return end_;
  return messages;
}

}  // namespace shoal::collectives
