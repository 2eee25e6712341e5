// SPDX-License-Identifier: Apache-2.0
// A Redfish service behind HTTP: an instance of the mock server, judged by its control API.
//
// Each environment has one instance a capture, named after both, made at its first episode and made
// again when the server has lost it. Each answer of the service carries the watch's result in a
// header, so that a step is one request.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/redfish_service.h"
#include "platform/http/client_connection.h"

namespace shoal::actor {

// The connections of one loop, shared by its environments; used from the executor's one thread.
class HttpConnections {
 public:
  struct Options {
    // Addresses of the services' front and of the control API.
    std::string service = "";
    std::string control = "";
    // Connections to the front, at least 1.
    std::size_t count = 4;
    // Requests that wait for one connection at most.
    std::size_t max_waiting = 64;
  };

  HttpConnections(boost::asio::any_io_executor executor, const Options& options);

  // `user` always gets the same one.
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

  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override;
  void Send(const ServiceRequest& request, Done done) override;
  void Advance(std::chrono::seconds by, Done done) override;

 private:
  using Answered = std::function<void(absl::StatusOr<http::ClientResponse>)>;

  // Control calls; `then` is not called once this is destroyed.
  void Post(const std::string& path, std::string body, Answered then);
  void Make(const std::string& capture, std::function<void(const absl::Status&)> then);
  void ResetInstance(const std::string& capture, std::shared_ptr<const std::string> body,
                     bool may_make, ResetDone done);
  absl::StatusOr<ServiceResponse> Read(absl::StatusOr<http::ClientResponse> answer);
  Answered Guard(Answered then);

  const std::shared_ptr<HttpConnections> connections_;
  const std::uint64_t environment_id_;
  // Instances that were made and not lost since, by id.
  std::set<std::string> made_;
  // Of the running episode.
  std::string instance_;
  // Callbacks hold it weakly: it goes with this.
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

// "satisfied=0;milestones=3;collateral=1". DATA_LOSS when it reads otherwise.
absl::StatusOr<Progress> ParseWatchResult(std::string_view header);

}  // namespace shoal::actor
