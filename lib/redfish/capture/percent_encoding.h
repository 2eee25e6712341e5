// SPDX-License-Identifier: Apache-2.0
// Percent escapes of URIs (RFC 3986, section 2.1).
#pragma once

#include <string>
#include <string_view>

namespace shoal::redfish {

// Returns `text` with its escapes decoded; a '%' that begins no escape stays.
std::string PercentDecoded(std::string_view text);

// Decodes a path so that it stays the same path (RFC 3986, section 6.2.2). An escape stays where
// its character would change the meaning: '/', '?', '#', '%', a space, a control character, or a
// character beyond ASCII.
std::string DecodedPath(std::string_view path);

}  // namespace shoal::redfish
