// SPDX-License-Identifier: Apache-2.0
// "https://bmc.lab" or "http://127.0.0.1:8000/redfish/v1", taken apart.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::discovery {

struct ServiceUrl {
  // "host:port".
  std::string address;
  bool secure = true;

  // "https://host:port".
  std::string Text() const { return (secure ? "https://" : "http://") + address; }
};

// Without a scheme it is https, without a port 443 or 80. INVALID_ARGUMENT naming `text` for
// another scheme, a user in it, or a path that is not the service root.
absl::StatusOr<ServiceUrl> ParseServiceUrl(std::string_view text);

}  // namespace shoal::discovery
