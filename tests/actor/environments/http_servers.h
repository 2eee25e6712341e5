// SPDX-License-Identifier: Apache-2.0
// The mock server's service port and control API over HTTP, in this process.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "actor/environments/http_service.h"
#include "actor/environments/inprocess_service.h"
#include "mockserver/process/control.h"
#include "mockserver/process/front.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/server.h"
#include "platform/runtime/metrics.h"

namespace shoal::actor {

struct HttpServers {
  explicit HttpServers(const Worlds& shared) {
    std::vector<std::shared_ptr<const mockserver::World>> worlds;
    for (const auto& [name, world] : shared) worlds.push_back(world);
    table = *mockserver::InstanceTable::Create(std::move(worlds), {});
    front = std::make_unique<mockserver::Front>(*table, metrics);
    control = std::make_unique<mockserver::Control>(*table, metrics);
    front_server = *http::Server::Create(
        {}, [this](const http::ServerRequest& request) { return front->Handle(request); });
    control_server = *http::Server::Create(
        {}, [this](const http::ServerRequest& request) { return control->Handle(request); });
  }

  // Makes at most `count` connections, which run on `context`.
  std::shared_ptr<HttpConnections> Connect(boost::asio::io_context& context,
                                           std::size_t count) const {
    return std::make_shared<HttpConnections>(
        context.get_executor(), HttpConnections::Options{.service = front_server->address(),
                                                         .control = control_server->address(),
                                                         .count = count});
  }

  runtime::Metrics metrics;
  std::unique_ptr<mockserver::InstanceTable> table;
  std::unique_ptr<mockserver::Front> front;
  std::unique_ptr<mockserver::Control> control;
  std::unique_ptr<http::Server> front_server;
  std::unique_ptr<http::Server> control_server;
};

}  // namespace shoal::actor
