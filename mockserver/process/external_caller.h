// SPDX-License-Identifier: Apache-2.0
// Asks external handlers. Each call has a connection of its own, and all calls share one thread
// that never blocks.
//
// Thread-safe. Calls past the limit are refused at once. When this object is destroyed, calls in
// progress end without an answer: their `done` is dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "mockserver/rules/external_handlers.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ExternalCallerOptions {
  // The maximum number of concurrent calls.
  std::int64_t max_calls = 64;
};

class ExternalCaller {
 public:
  // Receives the handler's reply. DEADLINE_EXCEEDED: the handler was too slow; RESOURCE_EXHAUSTED:
  // max_calls was reached; any other error: the handler could not be reached or gave a bad answer.
  using Done = std::function<void(absl::StatusOr<ExternalReply>)>;

  explicit ExternalCaller(ExternalCallerOptions options = {});
  ~ExternalCaller();
  ExternalCaller(const ExternalCaller&) = delete;
  ExternalCaller& operator=(const ExternalCaller&) = delete;

  // Calls `done` once, on this object's thread, or from within Ask when max_calls was reached.
  void Ask(std::shared_ptr<const ExternalCall> call, Done done);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
