// SPDX-License-Identifier: Apache-2.0
// ETags as functions of content: the world's from a resource's body, a changed version's from the
// one before it and what was written. So equal histories have equal ETags, on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::mockserver {

inline constexpr const char* kETagProperty = "@odata.etag";

// FNV-1a, 64 bits, continued from `state`.
std::uint64_t HashText(std::string_view text, std::uint64_t state = 0xcbf29ce484222325ull);

// W/"0123456789ABCDEF".
std::string FormatETag(std::uint64_t version);

// Whether the list of ETags in an If-Match or If-None-Match header names `etag`, by weak comparison
// (W/ and missing quotes are forgiven: clients differ). "*" names all.
bool Matches(std::string_view header, std::string_view etag);

}  // namespace shoal::mockserver
