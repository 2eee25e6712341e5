// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/external_url.h"

#include <arpa/inet.h>

#include <algorithm>

#include "platform/http/address.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kScheme = "http://";

bool IsThisMachine(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f' && c != '#' && c != '@'; });
}

}  // namespace

absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts) {
  const auto wrong = [url](const std::string& what) {
    return runtime::InvalidArgument("\"url\" " + std::string(url) + ": " + what);
  };
  if (!url.starts_with(kScheme) || !IsPlain(url)) return wrong("not http://host:port/path");
  const std::string_view rest = url.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string authority(rest.substr(0, slash));
  const bool has_port = authority.find(':', authority.find(']') + 1) != std::string::npos;
  if (!has_port) authority += ":80";
  const absl::StatusOr<http::Address> address = http::ParseAddress(authority);
  if (!address.ok()) return wrong(runtime::Message(address.status()));
  if (!IsThisMachine(address->host) &&
      std::find(hosts.begin(), hosts.end(), address->host) == hosts.end()) {
    return wrong("the host is not this machine, nor one of external_handler_hosts");
  }
  std::string target(rest.substr(slash));
  return ExternalUrl{http::Format(*address), target.empty() ? "/" : std::move(target)};
}

}  // namespace shoal::mockserver
