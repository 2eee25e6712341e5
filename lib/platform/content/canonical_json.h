// SPDX-License-Identifier: Apache-2.0
// The one text that a JSON value has: RFC 8785 (JSON Canonicalization Scheme).
//
// Members are sorted by the UTF-16 code units of their names, numbers are written as ECMAScript
// does (1.0 is 1, 1e21 is 1e+21), strings carry only the escapes that they must. Integers past
// 2^53 are written in full, not rounded to the nearest double: Redfish has 64-bit counters.
// Volatile properties — those that change with no change of the resource — are dropped first, so
// that a clock that ticks does not make a new content.
//
// Walks values recursively: a text from a peer is asked NestsDeeperThan (nesting.h) before it is
// parsed.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::content {

// Goes with every text: keys made by another version are of other texts. Changes whenever the
// bytes for some value, or the default volatile names, change.
inline constexpr std::string_view kCanonicaliserVersion = "rfc8785/1";

// Names of object members that are dropped at every depth.
using VolatileNames = absl::flat_hash_set<std::string>;

// "@odata.etag", "DateTime", "ReadingTime", "Timestamp", "LastUpdated" and the like.
const VolatileNames& DefaultVolatileNames();

// Invalid UTF-8 is replaced by U+FFFD; NaN and infinities, which JSON lacks, by null.
std::string CanonicalJson(const nlohmann::json& value);
// The same without the members in `volatile_names`.
std::string CanonicalJson(const nlohmann::json& value, const VolatileNames& volatile_names);

}  // namespace shoal::content
