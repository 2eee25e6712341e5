// SPDX-License-Identifier: Apache-2.0
// Where a handler outside may be: "http://host:port/path", with a port or 80.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ExternalUrl {
  // As http::ClientOptions takes it.
  std::string address;
  std::string target;
};

// INVALID_ARGUMENT when it is no such URL, has a user's name or a fragment, or its host is neither
// this machine (localhost, 127.x.x.x, ::1) nor one of `hosts`.
absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts);

}  // namespace shoal::mockserver
