// SPDX-License-Identifier: Apache-2.0
// Asks handlers outside, each call on a connection of its own, all on one thread that never blocks.
//
// Thread-safe. Calls past the limit are refused at once. When this is destroyed, calls in progress
// end without an answer: their `done` is dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "mockserver/rules/external_handlers.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ExternalCallerOptions {
  // Calls in progress at once.
  std::int64_t max_calls = 64;
};

class ExternalCaller {
 public:
  // What the handler said. DEADLINE_EXCEEDED: it was too slow; RESOURCE_EXHAUSTED: max_calls;
  // otherwise it could not be reached, or its answer is bad.
  using Done = std::function<void(absl::StatusOr<ExternalReply>)>;

  explicit ExternalCaller(ExternalCallerOptions options = {});
  ~ExternalCaller();
  ExternalCaller(const ExternalCaller&) = delete;
  ExternalCaller& operator=(const ExternalCaller&) = delete;

  // `done` is called once, on this one's thread; at the limit from within.
  void Ask(std::shared_ptr<const ExternalCall> call, Done done);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
