// SPDX-License-Identifier: Apache-2.0
// How parameters leave the learner: rank 0's gRPC server, and files in the run's folder.
//
// Publish is for one thread; Drain for any, once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/transport/server.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/publisher.h"

namespace shoal::learner {

struct PublicationOptions {
  // "host:port".
  std::string listen;
  // For parameters-<epoch>-<step>.safetensors.
  std::string folder;
  // Newest files kept, besides the run's first; at least 1.
  std::size_t keep = 3;
};

class Publication {
 public:
  // Listens; health says serving from the first Publish on. `metrics` outlives this.
  // FAILED_PRECONDITION naming the address when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<Publication>> Create(const PublicationOptions& options,
                                                             runtime::Metrics& metrics);
  ~Publication();

  // Serves `parameters` from now on.
  void Publish(const parameters::Parameters& parameters);
  // Writes a file, and removes files past `keep`.
  absl::Status Save(const parameters::Parameters& parameters) const;
  // "host:port" with the real port.
  const std::string& address() const { return server_->address(); }

  // Ends all streams and the server.
  void Drain();

 private:
  Publication(const PublicationOptions& options, runtime::Metrics& metrics);

  const std::size_t keep_;
  const parameters::ParametersFolder folder_;
  parameters::Publisher publisher_;
  std::unique_ptr<transport::Server> server_;
};

}  // namespace shoal::learner
