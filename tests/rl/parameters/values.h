// SPDX-License-Identifier: Apache-2.0
// Parameters, folders and servers for these tests.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "platform/runtime/metrics.h"
#include "platform/transport/server.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/publisher.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::parameters {

constexpr std::chrono::seconds kPatience{20};

// They have their SHA-256, so a publisher serves them before Publish returns.
inline Parameters ParametersOf(std::uint64_t epoch, std::uint64_t step, std::size_t bytes = 100) {
  const std::string text = std::to_string(epoch) + "/" + std::to_string(step) + " ";
  auto data = std::make_shared<std::string>();
  while (data->size() < bytes) *data += text;
  std::string sha256 = Sha256(*data);
  return {.version = {.epoch = epoch, .step = step},
          .spec_digest = "spec",
          .encoder_version = "encoder",
          .bytes = std::move(data),
          .sha256 = std::move(sha256)};
}

inline ParametersPointer PublishedOf(const Parameters& parameters) {
  return std::make_shared<const Parameters>(parameters);
}

// The same version as a learner publishes most: the publisher computes the SHA-256.
inline Parameters Unfinished(Parameters parameters) {
  parameters.sha256.clear();
  return parameters;
}

// A publisher on a loopback port.
class PublisherServer {
 public:
  explicit PublisherServer(const std::string& listen = "127.0.0.1:0",
                           const PublisherOptions& options = {})
      : publisher_(options, metrics_) {
    auto server = transport::Server::Create({.listen = listen}, {publisher_.service()});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  ~PublisherServer() {
    publisher_.Drain(std::chrono::seconds(10));
    server_->Shutdown(std::chrono::milliseconds(0));
  }

  Publisher& publisher() { return publisher_; }
  const std::string& address() const { return server_->address(); }
  runtime::Metrics& metrics() { return metrics_; }

 private:
  runtime::Metrics metrics_;
  Publisher publisher_;
  std::unique_ptr<transport::Server> server_;
};

inline double ResumedBytes(PublisherServer& server) {
  return server.metrics()
      .Counter("shoal_parameters_resumed_bytes_total",
               "Bytes of files that were not sent again after a stream broke, because the "
               "subscriber had them")
      .Value();
}

}  // namespace shoal::parameters
