// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/service_url.h"

#include "redfish/capture/uri.h"

namespace shoal::discovery {

absl::StatusOr<http::Url> ParseServiceUrl(std::string_view text) {
  const bool has_scheme = http::HasScheme(text);
  auto url = http::ParseUrl(has_scheme ? std::string(text) : "https://" + std::string(text));
  if (!url.ok()) return url;
  const std::string path = redfish::CanonicalUri(url->target);
  if (path != "/" && path != "/redfish" && path != redfish::kServiceRoot) {
    return http::WrongUrl(text, "the path is not that of a Redfish service");
  }
  return url;
}

}  // namespace shoal::discovery
