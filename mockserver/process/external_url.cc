// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/external_url.h"

#include <arpa/inet.h>

#include <algorithm>

#include "platform/http/url.h"

namespace shoal::mockserver {
namespace {

bool IsThisMachine(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

}  // namespace

absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts) {
  const auto wrong = [url](const std::string& what) {
    return runtime::InvalidArgument("\"url\" " + std::string(url) + ": " + what);
  };
  const absl::StatusOr<http::Url> parsed = http::ParseUrl(url);
  if (!parsed.ok() || parsed->secure || url.find('#') != std::string_view::npos) {
    return wrong("not http://host:port/path");
  }
  const http::Address& address = parsed->address;
  if (!IsThisMachine(address.host) &&
      std::find(hosts.begin(), hosts.end(), address.host) == hosts.end()) {
    return wrong("the host is not this machine, nor one of external_handler_hosts");
  }
  return ExternalUrl{http::Format(address), parsed->target};
}

}  // namespace shoal::mockserver
