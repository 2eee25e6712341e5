// SPDX-License-Identifier: Apache-2.0
// A Redfish service over HTTP: an instance of the mock server, driven by its control API.
//
// Each environment has one instance for each capture, named after both. The instance is made at the
// first episode, and again when the server has lost it. Each answer of the service carries the
// progress of the episode in a header, so a step takes one request.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/redfish_service.h"
#include "platform/http/client_connection.h"

namespace shoal::actor {

// The connections of one loop, shared by its environments. Only the executor's one thread uses
// them.
class HttpConnections {
 public:
  struct Options {
    // Addresses of the simulated services and of the control API.
    std::string service = "";
    std::string control = "";
    // Connections to the services, at least 1.
    std::size_t count = 4;
    // Requests that may wait for one connection, at most.
    std::size_t max_waiting = 64;
  };

  HttpConnections(boost::asio::any_io_executor executor, const Options& options);

  // Returns the connection of `user`, always the same one.
  http::ClientConnection& service(std::uint64_t user) {
    return *services_[user % services_.size()];
  }
  http::ClientConnection& control() { return *control_; }

 private:
  std::vector<std::unique_ptr<http::ClientConnection>> services_;
  std::unique_ptr<http::ClientConnection> control_;
};

class HttpService final : public RedfishService {
 public:
  HttpService(std::shared_ptr<HttpConnections> connections, std::uint64_t environment_id)
      : connections_(std::move(connections)), environment_id_(environment_id) {}

  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults& faults) override;
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  using Answered = std::function<void(absl::StatusOr<http::ClientResponse>)>;

  // Calls the control API. `then` is not called once this is destroyed.
  void Post(const std::string& path, std::string body, Answered then);
  void Make(const std::string& capture, std::function<void(const absl::Status&)> then);
  void ResetInstance(const std::string& capture, std::shared_ptr<const std::string> body,
                     bool may_make, ResetDone done);
  absl::StatusOr<ServiceResponse> Read(absl::StatusOr<http::ClientResponse> answer);
  Answered Guard(Answered then);

  const std::shared_ptr<HttpConnections> connections_;
  const std::uint64_t environment_id_;
  // Ids of the instances that were made and not lost since.
  std::set<std::string> made_;
  // The id of the running episode's instance.
  std::string instance_;
  // What SetFaults has set, as the control API reads it; null before.
  nlohmann::json faults_;
  // Callbacks hold a weak pointer to it, which expires with this object.
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

// Parses "satisfied=0;milestones=3;collateral=1". Returns DATA_LOSS for anything else.
absl::StatusOr<redfish::Progress> ParseWatchResult(std::string_view header);

}  // namespace shoal::actor
