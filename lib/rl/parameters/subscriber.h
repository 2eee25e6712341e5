// SPDX-License-Identifier: Apache-2.0
// Receives parameters from the learner continuously. It subscribes as soon as the learner can be
// reached. When the stream breaks, it subscribes again after a pause with back-off. It keeps the
// newest version on disk, so that a process can act when no learner is up.
//
// A version is accepted when its parts are whole, its SHA-256 matches, its spec digest is the
// expected one, and it is newer: a higher epoch, or within an epoch a higher step. Anything else is
// refused, counted and logged, and the stream goes on or is opened again.
//
// It keeps the file of the newest version in memory, and takes differences from it. After one that
// is damaged, or that was made of another file, it asks for the whole file. Where a stream breaks
// within a file, it keeps what came of it and asks the next stream for the rest; what does not
// match its SHA-256 then is asked for as a whole.
//
// `on_parameters` runs on the subscriber's own thread, one call at a time, with ascending versions
// and the last persisted one first. It may take its time; of the versions that arrive meanwhile,
// only the newest is delivered. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

struct SubscriberOptions {
  // "host:port" of the learner's rank 0.
  std::string address = {};
  // The name of this process in the learner's log.
  std::string client = {};
  // The folder that keeps the newest versions and the first one received; empty for nowhere.
  std::string folder = {};
  // The number of newest versions kept in the folder, besides the first one; at least 1.
  std::size_t keep = 2;
  // A version with another digest is refused; empty accepts any.
  std::string spec_digest = {};
  // A version that is larger is refused.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
};

class Subscriber {
 public:
  using Callback = std::function<void(const Parameters&)>;

  // Delivers the newest version of the folder, if there is one, then subscribes in the background.
  // `metrics` must outlive the subscriber. Returns INVALID_ARGUMENT without address or callback.
  static absl::StatusOr<std::unique_ptr<Subscriber>> Create(
      SubscriberOptions options, Callback on_parameters, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  // Waits for a running callback.
  ~Subscriber();

  // The newest version that was delivered.
  std::optional<Version> known() const;

 private:
  class Impl;
  explicit Subscriber(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
