// SPDX-License-Identifier: Apache-2.0
// How a crawl says who asks: not at all, by Basic, or by a session of its own (DSP0266, "Redfish
// session login authentication").
//
// Blocks while it logs in and out. Not thread-safe.
#pragma once

#include <string>

#include "platform/http/message.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/crawl_options.h"

namespace shoal::discovery {

class Login {
 public:
  // `options` outlives this.
  explicit Login(const CrawlOptions& options) : options_(options) {}
  // Logs out.
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  // FAILED_PRECONDITION: the service refuses user and password, or gives no token. UNAVAILABLE: it
  // is too busy (429) or broken (5xx). Other errors are those of the connection. Again after Leave.
  absl::Status Enter();
  // Deletes the session, if there is one; one that the service has forgotten is gone too. The first
  // error is told, and there is no second try. UNAVAILABLE too where neither Location nor the body
  // told where the session is, nor the collection has a member of its Id.
  absl::Status Leave();

  // What every request carries.
  const http::Headers& headers() const { return headers_; }

 private:
  absl::Status MakeSession();

  const CrawlOptions& options_;
  http::Headers headers_;
  // The URI of the session; empty without one.
  std::string session_;
  // There is a session, and the service has not said where.
  bool is_lost_ = false;
};

}  // namespace shoal::discovery
