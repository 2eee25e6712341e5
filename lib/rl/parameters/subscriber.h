// SPDX-License-Identifier: Apache-2.0
// Receives parameters from the learner, for ever: reconnects with back-off and keeps the newest
// version on disk, so that a process can act when no learner is up.
//
// A version is taken when its parts are whole, its SHA-256 matches, its spec digest is the one
// asked for, and it is newer: any higher epoch; within an epoch a higher step. Anything else is
// refused, counted and logged, and the stream goes on or is opened again.
//
// `on_parameters` runs on the subscriber's own thread, one call at a time, versions ascending, the
// last persisted one first; it may take its time, versions that come meanwhile are skipped but the
// newest. Thread-safe.
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
  // Names this process in the learner's log.
  std::string client = {};
  // Where the newest versions and the first one that came are kept; empty: nowhere.
  std::string folder = {};
  // Newest versions kept in the folder, the first one not counted; at least 1.
  std::size_t keep = 2;
  // A version with another digest is refused; empty: any.
  std::string spec_digest = {};
  // A version that is larger is refused.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
};

class Subscriber {
 public:
  using Callback = std::function<void(const Parameters&)>;

  // Hands over the newest version of the folder, if there is one, then subscribes in the
  // background. `metrics` outlives this. INVALID_ARGUMENT without address or callback.
  static absl::StatusOr<std::unique_ptr<Subscriber>> Create(
      SubscriberOptions options, Callback on_parameters, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  // Waits for a running callback.
  ~Subscriber();

  // The newest version handed over.
  std::optional<Version> known() const;

 private:
  class Impl;
  explicit Subscriber(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
