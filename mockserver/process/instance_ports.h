// SPDX-License-Identifier: Apache-2.0
// Separate ports for single instances, for clients that know neither a path prefix nor a Host.
//
// Each port is a server with one thread; there are at most `max_ports`. A port whose instance was
// deleted or replaced answers 404 and is closed when the next port is opened. Thread-safe.
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
  // The options of each server. Only the host of `listen` is used.
  http::ServerOptions server = {};
};

class InstancePorts {
 public:
  // Borrows `table` and `front`.
  InstancePorts(InstanceTable& table, Front& front, InstancePortsOptions options);
  InstancePorts(const InstancePorts&) = delete;
  InstancePorts& operator=(const InstancePorts&) = delete;

  // Listens on `port`, or a free port when 0, for the instance `id`, and closes the port that it
  // had. Returns the address. RESOURCE_EXHAUSTED past max_ports, NOT_FOUND for an unknown id,
  // FAILED_PRECONDITION for a port that is in use.
  absl::StatusOr<std::string> Open(const std::string& id, std::uint16_t port)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Does nothing when the instance has no port.
  void Close(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Drains all servers in parallel as http::Server::Drain does, within `patience`, and closes their
  // ports.
  void Drain(std::chrono::milliseconds patience) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Port {
    std::weak_ptr<InstanceTable::Slot> slot;
    std::unique_ptr<http::Server> server;
  };

  InstanceTable& table_;
  Front& front_;
  const InstancePortsOptions options_;
  // Held while a port is opened or closed, which is rare and quick.
  runtime::Mutex mutex_;
  std::map<std::string, Port, std::less<>> ports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::mockserver
