// SPDX-License-Identifier: Apache-2.0
// An http or https URL (RFC 3986), taken apart. What else a caller wants of it, the caller checks.
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
  // Path and query as they were written, at least "/".
  std::string target;

  // "https://host:port", an IPv6 host in brackets.
  std::string Origin() const { return (secure ? "https://" : "http://") + Format(address); }
};

// Whether `text` says a scheme, and so is no path of this machine.
bool HasScheme(std::string_view text);

// A fragment is dropped. INVALID_ARGUMENT naming `text` for another scheme, a user in it, no host,
// a port that is none, or a character that is not printable ASCII.
absl::StatusOr<Url> ParseUrl(std::string_view text);

// INVALID_ARGUMENT "URL "text": why", for checks of a caller's own.
absl::Status WrongUrl(std::string_view text, const std::string& why);

}  // namespace shoal::http
