// SPDX-License-Identifier: Apache-2.0
// How a service is crawled: whom it asks, how hard, how long, and what it keeps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/http/client_connection.h"
#include "redfish/capture/redaction.h"

namespace shoal::discovery {

enum class Authentication {
  kNone,
  kBasic,
  // A session is made at the start (the one POST), its token sent, and the session deleted at the
  // end.
  kSession,
};

struct CrawlOptions {
  // Where the service is; `address` also names it in the capture. Deadlines and the longest body
  // are here.
  http::ClientOptions connection = {};
  Authentication authentication = Authentication::kNone;
  std::string user = {};
  std::string password = {};

  // Connections at once; real BMCs bear about four. At least 1.
  std::int64_t concurrency = 4;
  // 0: no limit.
  double requests_per_second = 0;
  // How often a URI is asked for when another attempt may bring a better answer (frontier.h). At
  // least 1.
  std::int64_t attempts = 5;
  // Waiting before the second attempt; it doubles from one to the next, by chance half as much or
  // half as much again, never over the longest. A service's Retry-After counts where it is longer.
  std::chrono::milliseconds back_off{250};
  std::chrono::milliseconds longest_back_off{10'000};
  // Attempts in a row, on any URI, that got no answer at all; then the service is given up.
  std::int64_t unanswered_in_a_row = 40;
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;
  std::uint64_t seed = 1;

  // Links from the start; what is further is left out.
  std::int64_t max_depth = 64;
  // URIs; what is found beyond is left out.
  std::int64_t max_resources = 100'000;
  bool log_entries = false;
  bool sessions = false;
  // Canonical URIs to ask for beside the service root, for what nothing links to.
  std::vector<std::string> starts = {};

  // Nothing: bodies are kept as they come, secrets and all.
  std::optional<redfish::RedactionOptions> redaction = redfish::RedactionOptions{};
};

}  // namespace shoal::discovery
