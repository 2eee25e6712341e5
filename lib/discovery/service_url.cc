// SPDX-License-Identifier: Apache-2.0
#include "discovery/service_url.h"

#include "http/address.h"
#include "redfish/uri.h"

namespace shoal::discovery {

absl::StatusOr<ServiceUrl> ParseServiceUrl(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return runtime::InvalidArgument("URL \"" + std::string(text) + "\": " + why);
  };
  ServiceUrl url;
  std::string_view rest = text;
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = text.substr(0, scheme);
    if (name != "http" && name != "https") return wrong("the scheme is neither http nor https");
    url.secure = name == "https";
    rest = text.substr(scheme + 3);
  }
  const std::size_t slash = rest.find('/');
  const std::string path = redfish::CanonicalUri(
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash));
  if (!path.empty() && path != "/" && path != "/redfish" && path != redfish::kServiceRoot) {
    return wrong("the path is not that of a Redfish service");
  }
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) return wrong("a user is no part of it");
  // Colons in brackets are an IPv6 address's.
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const bool has_port = colon != std::string_view::npos;
  url.address = std::string(authority) + (has_port ? "" : url.secure ? ":443" : ":80");
  if (!http::ParseAddress(url.address).ok()) return wrong("no host and port");
  return url;
}

}  // namespace shoal::discovery
