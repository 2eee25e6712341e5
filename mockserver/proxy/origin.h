// SPDX-License-Identifier: Apache-2.0
// The real host behind a proxy (RFC 9110, "origin server"): asks it, at the pace that it bears.
//
// One thread of its own and a few connections to the host; further requests wait in order, at most
// kMaximumWaiting of them and none longer than its answer may take. Where it has a user of its own
// it logs in before the first request (discovery/login.h), again when the host has forgotten the
// session, at most once in kRenewalPause, and out at the end; a login that the host refuses is not
// repeated, as accounts lock. While it logs in others wait. Thread-safe.
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

  // OK with whatever status the host answered, and how long it took. DEADLINE_EXCEEDED: it is too
  // slow; RESOURCE_EXHAUSTED: kMaximumWaiting; UNAVAILABLE: it is not there, or went away;
  // FAILED_PRECONDITION: its certificate is not trusted, or it refuses the login; DATA_LOSS: no
  // HTTP, or longer than the longest answer.
  using Done = std::function<void(absl::StatusOr<http::ClientResponse>, double milliseconds)>;

  // Of `access`: connection, authentication, user and password, concurrency, and
  // requests_per_second. Connects to nobody yet. `clock` outlives this.
  Origin(discovery::CrawlOptions access, runtime::Clock& clock);
  // As Stop, without patience.
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  // `done` is called at most once: on this one's thread, or at the limit from within; after Stop
  // not at all. What `request` borrows stays where it is until `done` has gone.
  void Ask(http::ClientRequest request, Done done);

  // Gives up what is under way, then logs out, which takes `patience` for each of connecting and
  // asking. The logout's error. Idempotent; not from two threads at once.
  absl::Status Stop(std::chrono::milliseconds patience);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
