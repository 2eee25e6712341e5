// SPDX-License-Identifier: Apache-2.0
// Fetches single versions from the learner: the initial one of the run, or one that this process
// never received.
//
// Requests queue up and are made one after another on the fetcher's own thread, which also runs the
// callback. While the learner is unreachable, a request is retried until `patience` is over. The
// queue is bounded; a request that does not fit ends with RESOURCE_EXHAUSTED at once. The
// destructor cancels the request in progress and drops those that wait. Thread-safe.
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

// nullopt stands for the version that the run began with.
using WantedVersion = std::optional<Version>;

struct FetcherOptions {
  // The "host:port" of the learner's rank 0.
  std::string address = {};
  // The name of this process, for the learner.
  std::string client = {};
  // A version with another digest is refused; empty accepts any.
  std::string spec_digest = {};
  // A version that is larger is refused.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
  // The time that one version may take, including the time in which the learner is unreachable.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // The maximum number of requests that wait.
  std::size_t max_waiting = 64;
};

class Fetcher {
 public:
  // Receives the version, or an error: the learner's (NOT_FOUND for a version that it no longer
  // has), UNAVAILABLE or DEADLINE_EXCEEDED when it stays away, FAILED_PRECONDITION for another
  // spec, and those of Assembly.
  using Callback = std::function<void(const WantedVersion&, absl::StatusOr<Parameters>)>;

  // Returns INVALID_ARGUMENT without address or callback.
  static absl::StatusOr<std::unique_ptr<Fetcher>> Create(FetcherOptions options,
                                                         Callback on_fetched);
  // Waits for a running callback.
  ~Fetcher();

  // Each call leads to one call of the callback, unless the fetcher is destroyed before.
  void Fetch(const WantedVersion& wanted);

 private:
  class Impl;
  explicit Fetcher(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
