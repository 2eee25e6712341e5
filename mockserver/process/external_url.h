// SPDX-License-Identifier: Apache-2.0
// The URL of an external handler: "http://host:port/path". The default port is 80.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ExternalUrl {
  // The format is that of http::ClientOptions.
  std::string address;
  std::string target;
};

// Returns INVALID_ARGUMENT when `url` does not have this form, has a user name or a fragment, or
// its host is neither this machine (localhost, 127.x.x.x, ::1) nor one of `hosts`.
absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts);

}  // namespace shoal::mockserver
