// SPDX-License-Identifier: Apache-2.0
// Where a subscriber wants its events: an http or https URI (RFC 3986), taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::mockserver {

struct Destination {
  bool secure = false;
  // In lower case; an IPv6 host without brackets.
  std::string host;
  std::uint16_t port = 0;
  // Path and query, at least "/".
  std::string target;

  // The top-level domain that RFC 6761 keeps for names that are never there.
  bool is_invalid() const { return host == "invalid" || host.ends_with(".invalid"); }
};

// Nothing for another scheme, no host, a user in it, a port that is none, what is not printable
// ASCII, or more than kMaximumDestination bytes.
std::optional<Destination> ParseDestination(std::string_view uri);

inline constexpr std::size_t kMaximumDestination = 2048;

}  // namespace shoal::mockserver
