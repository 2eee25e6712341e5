// SPDX-License-Identifier: Apache-2.0
// Parses and formats "host:port" addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::http {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "127.0.0.1:80", "localhost:80" or "[::1]:80". INVALID_ARGUMENT naming the text otherwise.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// Returns "host:port", with an IPv6 host in brackets.
std::string Format(const Address& address);

}  // namespace shoal::http
