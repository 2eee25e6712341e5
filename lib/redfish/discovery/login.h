// SPDX-License-Identifier: Apache-2.0
// The credentials of a crawl: none, Basic, or a session of its own (DSP0266, "Redfish session login
// authentication").
//
// It blocks while it logs in and out. Not thread-safe.
#pragma once

#include <string>

#include "platform/http/message.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/crawl_options.h"

namespace shoal::discovery {

class Login {
 public:
  // `options` must outlive this object.
  explicit Login(const CrawlOptions& options) : options_(options) {}
  // Logs out.
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  // Logs in; it may be called again after Leave. FAILED_PRECONDITION: the service refuses user and
  // password, or gives no token. UNAVAILABLE: it is too busy (429) or broken (5xx). Other errors
  // are those of the connection.
  absl::Status Enter();
  // Deletes the session, if there is one. A session that the service has forgotten counts as
  // deleted. A service that fails is asked again a few times. UNAVAILABLE also when the session's
  // URI is unknown: neither Location nor the body named it, and the collection has no member of its
  // Id.
  absl::Status Leave();

  // The headers that every request carries.
  const http::Headers& headers() const { return headers_; }
  // The URI of the session; empty without one.
  const std::string& session() const { return session_; }

 private:
  absl::Status MakeSession();

  const CrawlOptions& options_;
  http::Headers headers_;
  std::string session_;
  // Whether a session exists whose URI is unknown.
  bool is_lost_ = false;
};

}  // namespace shoal::discovery
