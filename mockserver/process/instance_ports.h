// SPDX-License-Identifier: Apache-2.0
// Ports of their own for some instances, for clients that know neither a path prefix nor a Host.
//
// Each is a server with one thread; there are at most `max_ports`. A port lives as long as its
// instance: one whose instance has gone, or was replaced, is closed when the next is opened, and
// answers 404 until then. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mockserver/process/front.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/server.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct InstancePortsOptions {
  std::size_t max_ports = 64;
  // What each is served by; of `listen` the host alone.
  http::ServerOptions server = {};
};

class InstancePorts {
 public:
  // Borrows both.
  InstancePorts(InstanceTable& table, Front& front, InstancePortsOptions options);
  InstancePorts(const InstancePorts&) = delete;
  InstancePorts& operator=(const InstancePorts&) = delete;

  // Listens on `port`, 0 for a free one, for the instance `id`, in place of the port that it had.
  // Returns the address. RESOURCE_EXHAUSTED past max_ports, NOT_FOUND for an id that is not there,
  // FAILED_PRECONDITION for a port that is in use.
  absl::StatusOr<std::string> Open(const std::string& id, std::uint16_t port)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Nothing when it has none.
  void Close(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Closes all, each as http::Server::Drain does, together within `patience`.
  void Drain(std::chrono::milliseconds patience) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Port {
    std::weak_ptr<InstanceTable::Slot> slot;
    std::unique_ptr<http::Server> server;
  };

  InstanceTable& table_;
  Front& front_;
  const InstancePortsOptions options_;
  // Held while one is opened or closed: that is rare, and quick.
  runtime::Mutex mutex_;
  std::map<std::string, Port, std::less<>> ports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::mockserver
