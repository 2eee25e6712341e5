// SPDX-License-Identifier: Apache-2.0
// Parses http and https URLs (RFC 3986). Callers check further requirements themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/http/address.h"
#include "platform/runtime/status.h"

namespace shoal::http {

struct Url {
  bool secure = false;
  // The port is 443 or 80 where the URL names none.
  Address address;
  // Path and query as written, at least "/".
  std::string target;

  // Returns "https://host:port", with an IPv6 host in brackets.
  std::string Origin() const { return (secure ? "https://" : "http://") + Format(address); }
};

// Returns whether `text` begins with a scheme, and so is no path of this machine.
bool HasScheme(std::string_view text);

// Parses a URL; a fragment is dropped. INVALID_ARGUMENT naming it, as WrongUrl does, for another
// scheme, a user, a missing host, an invalid port, or a character that is not printable ASCII.
absl::StatusOr<Url> ParseUrl(std::string_view text);

// Returns a URL, or what was meant to be one, as texts may show it: "***" stands for whatever may
// be a user's name and password, which is all before the last "@". A password may hold any other
// character of a URL that is written wrongly. Without an "@" nothing is left out.
std::string WithoutUser(std::string_view text);
// Returns INVALID_ARGUMENT "URL "text": why" without the user, for a caller's own checks.
absl::Status WrongUrl(std::string_view text, const std::string& why);

}  // namespace shoal::http
