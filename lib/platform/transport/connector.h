// SPDX-License-Identifier: Apache-2.0
// A connector makes the channels of a client: over sockets, or without them to servers of the same
// process (Server::InProcessChannel).
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace shoal::transport {

// Returns a channel to the server at `address`. Thread-safe.
using Connector = std::function<std::shared_ptr<grpc::Channel>(const std::string& address)>;

// Makes channels by CreateChannel (channel.h) with its defaults.
Connector OverSockets();

}  // namespace shoal::transport
