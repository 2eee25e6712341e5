// SPDX-License-Identifier: Apache-2.0
// Keepalive settings come in pairs: both ends of every connection take their values from here.
//
// A server disconnects a client that pings more often than `least_interval` with ENHANCE_YOUR_CALM,
// so change neither side alone.
#pragma once

#include <chrono>

namespace shoal::transport {

struct Keepalive {
  // A client with an open call pings after this much silence.
  std::chrono::milliseconds client_time = std::chrono::seconds(20);
  // A server pings after this much silence.
  std::chrono::milliseconds server_time = std::chrono::seconds(30);
  // Either side drops the connection when a ping is not answered in this time.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  // A server accepts pings that are at least this far apart.
  std::chrono::milliseconds least_interval = std::chrono::seconds(10);
};

}  // namespace shoal::transport
