// SPDX-License-Identifier: Apache-2.0
// Percent escapes of URIs (RFC 3986, section 2.1).
#pragma once

#include <string>
#include <string_view>

namespace shoal::redfish {

// `text` with its escapes undone; what is no escape stays.
std::string PercentDecoded(std::string_view text);

// The same for a path that stays one (RFC 3986, section 6.2.2): an escape stays where its character
// would mean something else, which is '/', '?', '#', '%', a space, a control, or no ASCII.
std::string DecodedPath(std::string_view path);

}  // namespace shoal::redfish
