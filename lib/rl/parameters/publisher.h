// SPDX-License-Identifier: Apache-2.0
// Serves parameters to any number of subscribers: the service Parameters.Subscribe.
//
// Publish replaces what is served and returns at once. Each subscriber gets the newest version that
// it does not have, in parts; when it is done with one it gets the then newest, so a slow
// subscriber skips versions and holds up nobody. Memory: the newest version, plus those still being
// sent.
//
// Thread-safe. Register service() with a server before it starts; the server ends before this does.
//
//   Publisher publisher(metrics);
//   ... server builder: RegisterService(publisher.service()) ...
//   publisher.Publish({version, digest, encoder_version, bytes});
//   publisher.Drain(patience);   // ends all streams with UNAVAILABLE, before the server's Shutdown
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "rl/parameters/parameters_file.h"

namespace grpc {
class Service;
}

namespace shoal::parameters {

class Publisher {
 public:
  explicit Publisher(runtime::Metrics& metrics);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // A version that is not newer than the last one is ignored and false is returned.
  bool Publish(Parameters parameters);
  std::optional<Version> current() const;
  std::size_t subscribers() const;

  // Ends all streams; new ones are refused. False when a subscriber that does not read holds its
  // stream past `patience`: the server's Shutdown ends that one.
  bool Drain(runtime::Duration patience);

  grpc::Service* service();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
