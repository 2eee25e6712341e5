// SPDX-License-Identifier: Apache-2.0
// Gives tests a mock server's services and control API as clients reach them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "mockserver/process/control.h"
#include "mockserver/process/front.h"
#include "platform/http/fetch.h"
#include "platform/http/server.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

// A mock server with both ports on loopback.
class Running {
 public:
  explicit Running(InstanceTableOptions options = {},
                   runtime::Clock& clock = runtime::SystemClock())
      : table_(InstanceTable::Create({WorldOf("openbmc-stock"), WorldOf("dmtf-rackmount1")},
                                     options, clock)
                   .value()),
        front_(*table_, metrics_),
        ports_(*table_, front_, {.max_ports = 2}),
        control_(*table_, metrics_, {}, nullptr, &ports_),
        services_(
            http::Server::Create({.threads = 2}, [this](const auto& r) { return front_.Handle(r); })
                .value()),
        controls_(http::Server::Create({}, [this](const auto& r) {
                    return control_.Handle(r);
                  }).value()) {}

  http::ClientResponse Control(const std::string& method, const std::string& path,
                               const std::string& body = "") {
    return http::Fetch(controls_->address(),
                       {.method = method, .target = "/shoal/v1/" + path, .body = body})
        .value();
  }
  http::ClientResponse Service(const std::string& method, const std::string& target,
                               const std::string& body = "", const http::Headers& headers = {}) {
    return Try(method, target, body, headers).value();
  }
  // Like Service, for a request that may get no answer.
  absl::StatusOr<http::ClientResponse> Try(const std::string& method, const std::string& target,
                                           const std::string& body = "",
                                           const http::Headers& headers = {}) {
    return http::Fetch(services_->address(),
                       {.method = method, .target = target, .headers = headers, .body = body});
  }

  void Sweep() { table_->Sweep(); }

 private:
  runtime::Metrics metrics_;
  std::unique_ptr<InstanceTable> table_;
  Front front_;
  InstancePorts ports_;
  class Control control_;
  std::unique_ptr<http::Server> services_;
  std::unique_ptr<http::Server> controls_;
};

}  // namespace shoal::mockserver
