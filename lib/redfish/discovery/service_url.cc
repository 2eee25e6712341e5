// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/service_url.h"

#include <utility>

#include "platform/http/address.h"
#include "redfish/capture/uri.h"

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
  auto address = http::AddressOf(rest.substr(0, slash), url.secure);
  if (!address.ok()) return wrong(runtime::Message(address.status()));
  url.address = *std::move(address);
  return url;
}

}  // namespace shoal::discovery
