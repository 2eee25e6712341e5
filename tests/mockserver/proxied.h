// SPDX-License-Identifier: Apache-2.0
// A proxy on loopback in front of a service.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/fetch.h"
#include "http/server.h"
#include "mockserver/proxy.h"
#include "runtime/metrics.h"

namespace shoal::mockserver {

// Of the service at `address`, which anyone may ask for everything below what `allowed` names.
inline ProxySettings SettingsFor(const std::string& address,
                                 const std::vector<std::string>& allowed = {}) {
  ProxySettings settings;
  settings.access.connection.address = address;
  settings.rules = ProxyRules::Parse(allowed).value();
  return settings;
}

// A recording into `folder`, without redaction.
inline RecordingOptions RecordingOf(const std::string& address, const std::string& folder) {
  return {.folder = folder,
          .source = "http://" + address,
          .address = address,
          .redaction = std::nullopt};
}

class Proxied {
 public:
  explicit Proxied(ProxySettings settings)
      : proxy_(Proxy::Create(std::move(settings), metrics_).value()),
        server_(http::Server::Create({.threads = 2}, [this](const http::ServerRequest& request) {
                  return proxy_->Handle(request);
                }).value()) {}

  const std::string& address() const { return server_->address(); }

  absl::StatusOr<http::ClientResponse> Try(http::ClientRequest request) {
    return http::Fetch(address(), std::move(request));
  }
  http::ClientResponse Ask(const std::string& method, const std::string& target,
                           const std::string& body = "", const http::Headers& headers = {}) {
    return Try({.method = method, .target = target, .headers = headers, .body = body}).value();
  }
  http::ClientResponse Get(const std::string& target) { return Ask("GET", target); }

  // As the process ends.
  absl::Status Close(std::chrono::milliseconds patience = std::chrono::milliseconds(5'000)) {
    server_->Drain(patience);
    return proxy_->Close(patience);
  }

 private:
  runtime::Metrics metrics_;
  const std::unique_ptr<Proxy> proxy_;
  // Last: its threads use what is above.
  const std::unique_ptr<http::Server> server_;
};

}  // namespace shoal::mockserver
