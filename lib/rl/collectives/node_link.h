// SPDX-License-Identifier: Apache-2.0
// A connection that carries messages of nodes (node_message.h) without ever waiting.
//
// What the socket does not take at once is sent by later calls of Flush. A peer that sends no
// messages, or reads none, gets an error and is to be dropped. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/node_message.h"

namespace shoal::collectives {

class NodeLink {
 public:
  // Owns `socket`, which does not block. Errors begin with `peer`.
  NodeLink(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) {}
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  int socket() const { return socket_; }
  const std::string& peer() const { return peer_; }

  // Queues `message` and calls Flush. RESOURCE_EXHAUSTED when the peer has left too much unread.
  absl::Status Send(const NodeMessage& message);
  // Sends what it can. UNAVAILABLE when the peer is gone.
  absl::Status Flush();
  // Whether something is left to send.
  bool pending() const { return !outbox_.empty(); }

  // Returns the messages that have come. After an error nothing more can be received: UNAVAILABLE
  // when the peer is gone, INVALID_ARGUMENT for a line that is no message or too long. What had
  // come whole before that is returned first.
  absl::StatusOr<std::vector<NodeMessage>> Receive();

 private:
  const int socket_;
  const std::string peer_;
  std::string inbox_;
  std::string outbox_;
  // The error of the next Receive.
  absl::Status end_;
};

}  // namespace shoal::collectives
