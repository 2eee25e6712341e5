// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <limits>

#include "platform/transport/connector.h"

namespace shoal::transport {
namespace {

// Returns the longest pause before the next attempt to connect, in milliseconds. On this host a
// process that starts listens within fractions of a second, and until then the kernel refuses an
// attempt at once.
int LongestPause(const std::string& address) {
  for (const char* const here : {"unix:", "127.", "localhost:", "[::1]:"}) {
    if (address.starts_with(here)) return 100;
  }
  return 1000;
}

}  // namespace

std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address,
                                             const ChannelOptions& options) {
  const int limit = static_cast<int>(
      std::min<std::int64_t>(options.max_message_bytes, std::numeric_limits<int>::max()));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(limit);
  arguments.SetMaxSendMessageSize(limit);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, options.own_connection ? 1 : 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   static_cast<int>(options.keepalive.client_time.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(options.keepalive.timeout.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // The time of one attempt, handshake included: a busy machine needs more than the back-off.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 3000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, LongestPause(address));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      address, options.credentials ? options.credentials : grpc::InsecureChannelCredentials(),
      arguments);
}

Connector OverSockets() {
  return [](const std::string& address) { return CreateChannel(address); };
}

}  // namespace shoal::transport
