// SPDX-License-Identifier: Apache-2.0
// Gets single versions from the learner: the one that the run began with, or one that this process
// never received.
//
// Requests wait in line and are made one after another on the fetcher's own thread, which also runs
// the callback. While the learner is away a request is tried again until `patience` is over. The
// line is bounded; what does not fit ends with RESOURCE_EXHAUSTED at once. The destructor cancels
// the request in progress and drops those that wait. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/status.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

// nullopt: the version that the run began with.
using WantedVersion = std::optional<Version>;

struct FetcherOptions {
  // "host:port" of the learner's rank 0.
  std::string address = {};
  // Names this process to the learner.
  std::string client = {};
  // A version with another digest is refused; empty: any.
  std::string spec_digest = {};
  // A version that is larger is refused.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
  // How long one version may take, the time in which the learner is away included.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // Requests that may wait.
  std::size_t max_waiting = 64;
};

class Fetcher {
 public:
  // Errors: the learner's (NOT_FOUND for a version that it no longer has), UNAVAILABLE or
  // DEADLINE_EXCEEDED when it stays away, FAILED_PRECONDITION for another spec, and Assembly's.
  using Callback = std::function<void(const WantedVersion&, absl::StatusOr<Parameters>)>;

  // INVALID_ARGUMENT without address or callback.
  static absl::StatusOr<std::unique_ptr<Fetcher>> Create(FetcherOptions options,
                                                         Callback on_fetched);
  // Waits for a running callback.
  ~Fetcher();

  // Each call ends with one call of the callback, unless the fetcher is destroyed before.
  void Fetch(const WantedVersion& wanted);

 private:
  class Impl;
  explicit Fetcher(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
