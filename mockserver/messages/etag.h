// SPDX-License-Identifier: Apache-2.0
// ETags as functions of content. The ETag of a captured resource derives from its body; the ETag of
// a changed version derives from the previous version and the written value. Equal histories
// therefore have equal ETags on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::mockserver {

inline constexpr const char* kETagProperty = "@odata.etag";

// Returns the 64-bit FNV-1a hash of `text`, continued from `state`.
std::uint64_t HashText(std::string_view text, std::uint64_t state = 0xcbf29ce484222325ull);

// Formats `version` as W/"0123456789ABCDEF".
std::string FormatETag(std::uint64_t version);

// Returns whether the list of ETags in an If-Match or If-None-Match header names `etag`, by weak
// comparison. W/ prefixes and missing quotes are ignored because clients differ. "*" names every
// ETag.
bool Matches(std::string_view header, std::string_view etag);

}  // namespace shoal::mockserver
