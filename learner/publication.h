// SPDX-License-Identifier: Apache-2.0
// Publishes parameters: over rank 0's gRPC server and as files in the run's folder. What
// evaluations of them returned comes back over the same server.
//
// A version is rounded where halves are published, and its SHA-256 is computed, once: by Save on
// the caller's thread, or else by a thread of the publisher. The version is what was rounded, in
// files and wherever it is fetched or evaluated.
//
// Publish and TakeEvaluations are called from one thread, Drain once from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/transport/server.h"
#include "rl/parameters/evaluation_inbox.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/publisher.h"

namespace shoal::learner {

struct PublicationOptions {
  // "host:port".
  std::string listen;
  // The folder of parameters-<epoch>-<step>.safetensors.
  std::string folder;
  // The folder in which others keep versions that are to be served for longer.
  std::string kept_folder = {};
  // How many of the newest files are kept, besides the run's first. At least 1.
  std::size_t keep = 3;
  // Memory for recent versions, besides the newest, that are served without reading a file.
  std::size_t recent_bytes = std::size_t{256} << 20;
  // Whether subscribers get differences from what they hold (rl/parameters/publisher.h).
  bool differences = false;
  // Whether parameters are rounded to half precision.
  bool halves = false;
};

class Publication {
 public:
  // Starts to listen; health reports SERVING from the first Publish on. `metrics` must outlive this
  // object. Returns FAILED_PRECONDITION, which names the address, if it cannot be bound.
  static absl::StatusOr<std::unique_ptr<Publication>> Create(const PublicationOptions& options,
                                                             runtime::Metrics& metrics);
  ~Publication();

  // Serves `parameters` from now on, or soon if they were not saved.
  void Publish(const parameters::Parameters& parameters);
  // Writes a file and removes the files beyond `keep`. Rounds `parameters` if halves are published,
  // and gives them their SHA-256.
  absl::Status Save(parameters::Parameters& parameters) const;
  // Returns what was reported of evaluations since the last call, in order.
  std::vector<parameters::EvaluationReport> TakeEvaluations() { return evaluations_.Take(); }
  // Returns "host:port" with the port that is bound.
  const std::string& address() const { return server_->address(); }

  // Ends all streams and the server.
  void Drain();

 private:
  Publication(const PublicationOptions& options, runtime::Metrics& metrics);

  const std::size_t keep_;
  const bool halves_;
  const parameters::ParametersFolder folder_;
  parameters::Publisher publisher_;
  parameters::EvaluationInbox evaluations_;
  std::unique_ptr<transport::Server> server_;
};

}  // namespace shoal::learner
