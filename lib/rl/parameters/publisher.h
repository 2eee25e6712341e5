// SPDX-License-Identifier: Apache-2.0
// Serves parameters to any number of subscribers, and single versions to whoever asks for them: the
// service Parameters.
//
// Publish replaces what is served and returns at once. Each subscriber gets the newest version that
// it does not have, in parts; when it is done with one it gets the then newest, so a slow
// subscriber skips versions and holds up nobody. Memory: the newest version, those still being
// sent, and what published_versions.h keeps for Fetch. Fetch is answered on a thread of the
// publisher's own, since it may read files; more than `max_fetches` that wait are refused.
//
// Thread-safe. Register service() with a server before it starts; the server ends before this does.
//
//   Publisher publisher({.folder = "runs/1/parameters"}, metrics);
//   ... server builder: RegisterService(publisher.service()) ...
//   publisher.Publish({version, digest, encoder_version, bytes});
//   publisher.Drain(patience);   // ends all streams with UNAVAILABLE, before the server's Shutdown
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "rl/parameters/parameters_file.h"

namespace grpc {
class Service;
}

namespace shoal::parameters {

struct PublisherOptions {
  // Where versions are saved, by others; Fetch reads them there. Empty: nowhere.
  std::string folder = {};
  // Bytes of versions kept in memory for Fetch, besides the newest one.
  std::size_t recent_bytes = std::size_t{256} << 20;
  // Calls of Fetch that may wait.
  std::size_t max_fetches = 256;
};

class Publisher {
 public:
  Publisher(const PublisherOptions& options, runtime::Metrics& metrics);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // A version that is not newer than the last one is ignored and false is returned.
  bool Publish(Parameters parameters);
  std::optional<Version> current() const;
  std::size_t subscribers() const;

  // Ends all streams and fetches; new ones are refused. False when a subscriber that does not read
  // holds its stream past `patience`: the server's Shutdown ends that one.
  bool Drain(runtime::Duration patience);

  grpc::Service* service();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
