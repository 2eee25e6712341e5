// SPDX-License-Identifier: Apache-2.0
// How a real host is reached: login, trust, pace and time limits, as flags and configurations say
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "operate/host.h"
#include "platform/http/url.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

struct HostAccess {
  // Empty: nobody logs in.
  std::string user = {};
  // The file whose first line is the user's password.
  std::string password_file = {};
  // "session" logs in, and out at the end. "basic" names the user with each request.
  std::string authentication = "session";
  // PEM authorities to trust instead of the system's.
  std::string ca_file = {};
  // Trust any certificate.
  bool insecure = false;
  double timeout_seconds = 10;
  double pace_seconds = 0;
  std::int64_t attempts = 8;

  void Visit(runtime::Visitor& visitor);
};

// The files of passwords. Each is read once, as a pipe gives its text to one reader alone.
class PasswordFiles {
 public:
  // Errors are those of runtime::ReadSecret.
  absl::StatusOr<std::string> Read(const std::string& path);

 private:
  std::map<std::string, std::string> read_;
};

// Puts what `access` says about the connection and the login to `url` into `crawl`; pace and
// attempts stay. Errors are those of HostOptionsOf.
absl::Status FillConnection(const HostAccess& access, const http::Url& url,
                            PasswordFiles& passwords, discovery::CrawlOptions& crawl);
// Returns the options for the host at `url`, with the password read from its file.
// INVALID_ARGUMENT, NOT_FOUND or FAILED_PRECONDITION naming what is wrong.
absl::StatusOr<HostOptions> HostOptionsOf(const HostAccess& access, const std::string& url,
                                          PasswordFiles& passwords);

}  // namespace shoal::operate
