// SPDX-License-Identifier: Apache-2.0
// The options of a crawl: credentials, pace, limits, and what it keeps.
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
  // A session is made at the start (the only POST), its token is sent with requests, and the
  // session is deleted at the end.
  kSession,
};

struct CrawlOptions {
  // How to reach the service, with deadlines and the longest body; `address` also names it in the
  // capture.
  http::ClientOptions connection = {};
  Authentication authentication = Authentication::kNone;
  std::string user = {};
  std::string password = {};

  // The number of concurrent connections, at least 1; real BMCs bear about four.
  std::int64_t concurrency = 4;
  // 0 means no limit.
  double requests_per_second = 0;
  // The number of attempts for a URI while another attempt may bring a better answer (crawler.h).
  // At least 1.
  std::int64_t attempts = 5;
  // The wait before the second attempt. It doubles from one attempt to the next, times a random
  // factor from 0.5 to 1.5, up to the longest. A service's Retry-After counts where it is longer.
  std::chrono::milliseconds back_off{250};
  std::chrono::milliseconds longest_back_off{10'000};
  // After this many attempts in a row without any answer, on any URIs, the crawl gives the service
  // up.
  std::int64_t unanswered_in_a_row = 40;
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;
  std::uint64_t seed = 1;

  // The maximum number of links from the start; URIs further away are left out.
  std::int64_t max_depth = 64;
  // The maximum number of URIs; URIs found beyond it are left out.
  std::int64_t max_resources = 100'000;
  bool log_entries = false;
  bool sessions = false;
  // Canonical URIs to request beside the service root, for resources that nothing links to.
  std::vector<std::string> starts = {};

  // Without a value, bodies are kept as they come, including secrets.
  std::optional<redfish::RedactionOptions> redaction = redfish::RedactionOptions{};
};

}  // namespace shoal::discovery
