// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/instance_ports.h"

#include <utility>
#include <vector>

#include "platform/http/address.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {

InstancePorts::InstancePorts(InstanceTable& table, Front& front, InstancePortsOptions options)
    : table_(table), front_(front), options_(std::move(options)) {}

absl::StatusOr<std::string> InstancePorts::Open(const std::string& id, std::uint16_t port) {
  const std::shared_ptr<InstanceTable::Slot> slot = table_.Find(id);
  if (slot == nullptr) return runtime::NotFound("no instance " + id);
  SHOAL_ASSIGN_OR_RETURN(const http::Address services, http::ParseAddress(options_.server.listen));
  http::ServerOptions server = options_.server;
  server.threads = 1;
  server.listen = http::Format({services.host, port});

  const runtime::MutexLock lock(mutex_);
  ports_.erase(id);
  std::erase_if(ports_, [](const auto& entry) { return entry.second.slot.expired(); });
  if (ports_.size() >= options_.max_ports) {
    return runtime::ResourceExhausted("there are " + std::to_string(options_.max_ports) +
                                      " instances with a port of their own, the limit");
  }
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<http::Server> opened,
      http::Server::Create(std::move(server), [this, id](const http::ServerRequest& request) {
        return front_.Handle(request, id);
      }));
  std::string address = opened->address();
  ports_.emplace(id, Port{slot, std::move(opened)});
  return address;
}

void InstancePorts::Close(std::string_view id) {
  const runtime::MutexLock lock(mutex_);
  const auto found = ports_.find(id);
  if (found != ports_.end()) ports_.erase(found);
}

void InstancePorts::Drain(std::chrono::milliseconds patience) {
  const runtime::MutexLock lock(mutex_);
  std::vector<runtime::Thread> drains;
  for (auto& [id, port] : ports_) {
    drains.emplace_back("drain", [&server = *port.server, patience] { server.Drain(patience); });
  }
  for (runtime::Thread& drain : drains) drain.Join();
  ports_.clear();
}

}  // namespace shoal::mockserver
