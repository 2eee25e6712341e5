// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/destination.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <charconv>

namespace shoal::mockserver {
namespace {

// Removes `scheme`, such as "https://", from the front of `uri`, in any capitals.
bool TakeScheme(std::string_view& uri, std::string_view scheme) {
  if (absl::AsciiStrToLower(std::string(uri.substr(0, scheme.size()))) != scheme) return false;
  uri.remove_prefix(scheme.size());
  return true;
}

// Removes the host from the front of "host:port" or "[::1]:port" and returns it.
std::string_view TakeHost(std::string_view& authority) {
  std::size_t end = authority.find(':');
  std::string_view host;
  if (authority.starts_with('[')) {
    end = authority.find(']');
    if (end == std::string_view::npos) return {};
    host = authority.substr(1, end - 1);
    ++end;
  } else {
    host = authority.substr(0, end);
  }
  authority.remove_prefix(std::min(end, authority.size()));
  return host;
}

bool ParsePort(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && last == end && port != 0;
}

}  // namespace

std::optional<Destination> ParseDestination(std::string_view uri) {
  const bool is_plain =
      std::all_of(uri.begin(), uri.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_plain || uri.size() > kMaximumDestination) return std::nullopt;
  Destination destination;
  destination.secure = TakeScheme(uri, "https://");
  if (!destination.secure && !TakeScheme(uri, "http://")) return std::nullopt;
  uri = uri.substr(0, uri.find('#'));
  std::string_view authority = uri.substr(0, uri.find_first_of("/?"));
  uri.remove_prefix(authority.size());
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  destination.host = absl::AsciiStrToLower(std::string(TakeHost(authority)));
  destination.port = destination.secure ? 443 : 80;
  const bool has_port = authority.empty() || authority.front() == ':';
  if (destination.host.empty() || !has_port) return std::nullopt;
  if (!ParsePort(authority, destination.port)) return std::nullopt;
  destination.target = uri.starts_with('/') ? std::string(uri) : "/" + std::string(uri);
  return destination;
}

}  // namespace shoal::mockserver
