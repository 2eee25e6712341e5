// SPDX-License-Identifier: Apache-2.0
// The flags that say how a real host is reached: login, trust, pace and time limits.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "operate/host.h"
#include "platform/http/tls_context.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct HostAccessFlags {
  std::string user;
  std::string password_file;
  std::string authentication = "session";
  http::ClientTlsOptions tls;
  bool insecure = false;
  double timeout_seconds = 10;
  double pace_seconds = 0;
  std::int64_t attempts = 8;
};

void AddHostAccess(CLI::App& command, HostAccessFlags& flags);

// Returns the options for the host at `url`, with the password read from its file.
// INVALID_ARGUMENT, NOT_FOUND or FAILED_PRECONDITION naming what is wrong.
absl::StatusOr<operate::HostOptions> HostOptionsOf(const HostAccessFlags& flags,
                                                   const std::string& url);
// REQUIRES: there is a password file.
absl::StatusOr<std::string> ReadLoginPassword(const HostAccessFlags& flags);

}  // namespace shoal::cli
