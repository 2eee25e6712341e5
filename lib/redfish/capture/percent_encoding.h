// SPDX-License-Identifier: Apache-2.0
// Percent escapes of URIs (RFC 3986, section 2.1).
#pragma once

#include <string>
#include <string_view>

namespace shoal::redfish {

// `text` with its escapes undone; what is no escape stays.
std::string PercentDecoded(std::string_view text);

}  // namespace shoal::redfish
