// SPDX-License-Identifier: Apache-2.0
// A proxy on loopback in front of a service, which is a capture's or gives the answers of a test.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/proxy/proxy.h"
#include "platform/http/fetch.h"
#include "platform/http/server.h"
#include "platform/runtime/metrics.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::mockserver {

using Host = discovery::Service;
using Said = std::optional<http::ServerResponse>;

inline const std::string kRack = "dmtf-rackmount1";
inline const std::string kSystem = "/redfish/v1/Systems/437XR1138R2";

inline InstanceTableOptions Closed() {
  InstanceTableOptions options;
  options.instance.authentication = Authentication::kRequired;
  return options;
}

inline http::Headers Header(const std::string& name, const std::string& value) {
  http::Headers headers;
  headers.Add(name, value);
  return headers;
}

inline http::ServerResponse Text(const std::string& text, const std::string& lines = "") {
  return {.header_lines = lines, .body = std::make_shared<const std::string>(text)};
}

// Returns `response` if the request is for /redfish/v1/`name`.
inline Said SaidAt(const http::ServerRequest& request, const std::string& name,
                   http::ServerResponse response) {
  const bool is_it = request.target() == "/redfish/v1/" + name;
  return is_it ? Said(std::move(response)) : Said();
}

// Returns settings for the service at `address`, where anyone may read everything and send the
// requests that `allowed` names.
inline ProxySettings SettingsFor(const std::string& address,
                                 const std::vector<std::string>& allowed = {}) {
  ProxySettings settings;
  settings.access.connection.address = address;
  settings.rules = ProxyRules::Parse(allowed).value();
  return settings;
}

// Returns options that record into `folder` without redaction.
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

  // Closes the proxy as the end of the process does.
  absl::Status Close(std::chrono::milliseconds patience = std::chrono::milliseconds(5'000)) {
    server_->Drain(patience);
    return proxy_->Close(patience);
  }

 private:
  runtime::Metrics metrics_;
  const std::unique_ptr<Proxy> proxy_;
  // The server comes last, since its threads use the members above.
  const std::unique_ptr<http::Server> server_;
};

}  // namespace shoal::mockserver
