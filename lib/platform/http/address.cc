// SPDX-License-Identifier: Apache-2.0
#include "platform/http/address.h"

#include <charconv>

namespace shoal::http {
namespace {

absl::Status Malformed(std::string_view text) {
  return runtime::InvalidArgument("address \"" + std::string(text) +
                                  "\" is not host:port (an IPv6 host in brackets)");
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return Malformed(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return Malformed(text);
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Malformed(text);
  }
  Address address{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return Malformed(text);
  return address;
}

std::string Format(const Address& address) {
  const bool bracket = address.host.find(':') != std::string::npos;
  return (bracket ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace shoal::http
