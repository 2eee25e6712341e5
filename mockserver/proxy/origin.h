// SPDX-License-Identifier: Apache-2.0
// The real host behind a proxy (RFC 9110, "origin server"). Origin sends requests to it at a
// limited pace.
//
// Origin has a thread of its own and a few connections to the host. Further requests wait in order:
// at most kMaximumWaiting of them, and none longer than the deadline of its answer. When it has a
// user of its own, it logs in before the first request (redfish/discovery/login.h), logs in again
// when the host has forgotten the session, at most once in kRenewalPause, and logs out at the end.
// A login that the host refuses is not repeated, because that could lock the account. During a
// login all other requests wait. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "platform/http/message.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/crawl_options.h"

namespace shoal::mockserver {

class Origin {
 public:
  static constexpr std::size_t kMaximumWaiting = 256;
  static constexpr std::chrono::seconds kRenewalPause{10};

  // Receives the host's answer, whatever its status, and the time that it took. DEADLINE_EXCEEDED:
  // the host is too slow; RESOURCE_EXHAUSTED: kMaximumWaiting requests wait; UNAVAILABLE: the host
  // cannot be reached or has closed the connection; FAILED_PRECONDITION: its certificate is not
  // trusted, or it refuses the login; DATA_LOSS: the answer is not HTTP, or is too long.
  using Done = std::function<void(absl::StatusOr<http::ClientResponse>, double milliseconds)>;

  // Uses these members of `access`: connection, authentication, user and password, concurrency, and
  // requests_per_second. Does not connect yet. `clock` must outlive this object.
  Origin(discovery::CrawlOptions access, runtime::Clock& clock);
  // Acts as Stop with no patience.
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  // Calls `done` at most once: on this object's thread, or from within Ask when kMaximumWaiting is
  // reached. It is not called after Stop. Whatever `request` borrows must stay valid until `done`
  // is destroyed.
  void Ask(http::ClientRequest request, Done done);

  // Gives up requests in progress and then logs out, waiting at most `patience` for connecting and
  // again for the answer. Returns the logout's error. Idempotent, but must not be called from two
  // threads at once.
  absl::Status Stop(std::chrono::milliseconds patience);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
