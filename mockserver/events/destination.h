// SPDX-License-Identifier: Apache-2.0
// The destination of a subscriber's events: an http or https URI (RFC 3986), split into its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::mockserver {

struct Destination {
  bool secure = false;
  // In lower case. An IPv6 host has no brackets.
  std::string host;
  std::uint16_t port = 0;
  // The path and query, at least "/".
  std::string target;

  // RFC 6761 reserves the top-level domain ".invalid" for names that never exist.
  bool is_invalid() const { return host == "invalid" || host.ends_with(".invalid"); }
};

// Returns nothing for another scheme, no host, user information, an invalid port, characters that
// are not printable ASCII, or more than kMaximumDestination bytes.
std::optional<Destination> ParseDestination(std::string_view uri);

inline constexpr std::size_t kMaximumDestination = 2048;

}  // namespace shoal::mockserver
