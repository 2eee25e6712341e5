// SPDX-License-Identifier: Apache-2.0
// A channel is the client's end of a connection to one server.
//
// Thread-safe. The last reference to a channel or stub must never be dropped inside a gRPC
// reaction: gRPC 1.51 would join its own thread there.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <memory>
#include <string>

#include "platform/transport/keepalive.h"

namespace shoal::transport {

struct ChannelOptions {
  // The largest message that is sent or received. Larger ones end the call with RESOURCE_EXHAUSTED.
  std::int64_t max_message_bytes = std::int64_t{64} << 20;
  // True gives the channel a TCP connection of its own, so that bulk traffic never delays `Act`.
  // False shares one connection with every other such channel of this process to the same address.
  bool own_connection = true;
  Keepalive keepalive = {};
  // Null means no encryption.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
};

// Returns without connecting. Calls that cannot connect end with UNAVAILABLE, unless they wait for
// the channel (wait_for_ready). It tries again after about a second at most, or a tenth of one
// where the address is a loopback address or a socket in the file system, so that a server that
// starts is found soon. How often a name is looked up again is up to gRPC.
std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address,
                                             const ChannelOptions& options = {});

}  // namespace shoal::transport
