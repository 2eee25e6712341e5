// SPDX-License-Identifier: Apache-2.0
// The URL of a Redfish service: "bmc.lab", "https://bmc.lab" or "http://127.0.0.1:8000/redfish/v1".
#pragma once

#include <string_view>

#include "platform/http/url.h"
#include "platform/runtime/status.h"

namespace shoal::discovery {

// Parses the URL; without a scheme it is https. INVALID_ARGUMENT as from http::ParseUrl, and for a
// path that is not the service root.
absl::StatusOr<http::Url> ParseServiceUrl(std::string_view text);

}  // namespace shoal::discovery
