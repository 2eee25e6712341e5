// SPDX-License-Identifier: Apache-2.0
// The gRPC service Parameters: it streams parameters to any number of subscribers, and serves
// single versions on request.
//
// Publish replaces the served version and returns at once: a thread of the publisher rounds the
// file where `halves` are served, and computes its SHA-256, before subscribers get it. That thread
// takes the newest version, and leaves out those that were superseded before it came to them. Fetch
// returns these too, and finishes them first. A version that comes with its SHA-256 is served
// before Publish returns.
//
// Each subscriber gets the newest version that it does not have, in parts. When it has received
// one, it gets the version that is then the newest, so a slow subscriber skips versions and delays
// nobody. One that comes back with the beginning of a file gets the rest of it first, though there
// may be newer versions: so versions arrive over links that break more often than a file takes.
// That file must be in memory and of the newest epoch, and its SHA-256 must be the stated one.
// Whatever else a subscriber states leads to the newest version, from its first byte. Differences
// begin again.
//
// Memory holds the newest version, those still being sent, and what published_versions.h keeps for
// Fetch. A thread of the publisher answers Fetch, since it may read files; when `max_fetches` calls
// wait, more are refused.
//
// With `differences`, a subscriber that takes them and holds a version that is in memory gets the
// difference from it (difference.h), which another thread makes once for all who need the same. It
// gets the file where it holds no such version, holds another file, or the file is smaller.
//
// Thread-safe. Register service() with a server before it starts; the server must end before the
// publisher does.
//
//   Publisher publisher({.folder = "runs/1/parameters"}, metrics);
//   ... server builder: RegisterService(publisher.service()) ...
//   publisher.Publish({version, spec_digest, encoder_version, bytes});
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
  // The folder in which other code saves versions; Fetch reads them there. Empty for nowhere.
  std::string folder = {};
  // A second folder, for versions that are kept for longer. Empty for none.
  std::string kept_folder = {};
  // The bytes of versions kept in memory for Fetch and differences, besides the newest one.
  std::size_t recent_bytes = std::size_t{256} << 20;
  // The maximum number of Fetch calls that wait.
  std::size_t max_fetches = 256;
  // Whether differences are sent.
  bool differences = false;
  // Whether versions that are published without a SHA-256 are rounded (half_precision.h).
  bool halves = false;
};

class Publisher {
 public:
  Publisher(const PublisherOptions& options, runtime::Metrics& metrics);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Returns false and ignores a version that is not newer than the last one. A file that is to be
  // rounded and is no safetensors file is logged and not served.
  bool Publish(Parameters parameters);
  // The last version that was published; subscribers may not have it yet.
  std::optional<Version> current() const;
  std::size_t subscribers() const;

  // Ends all fetches, sends the newest version, ends each stream that has it, and refuses new ones.
  // Returns false when subscribers have not got it within `patience`: their streams end after the
  // part that they are reading, and where one does not read, with the server's Shutdown.
  bool Drain(runtime::Duration patience);

  grpc::Service* service();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
