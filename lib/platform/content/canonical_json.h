// SPDX-License-Identifier: Apache-2.0
// The canonical text of a JSON value: RFC 8785 (JSON Canonicalization Scheme).
//
// Members are sorted by the UTF-16 code units of their names, numbers are written as ECMAScript
// does (1.0 is 1, 1e21 is 1e+21), and strings carry only the escapes that they must. Unlike RFC
// 8785, integers past 2^53 are written in full, not rounded to the nearest double: Redfish has
// 64-bit counters. Volatile properties, which change without a change of the resource, are dropped
// first, so that a ticking clock does not make a new content.
//
// The functions walk values recursively, so a text from a peer must pass NestsDeeperThan
// (nesting.h) before it is parsed.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::content {

// The version that accompanies every text, since another version's keys belong to other texts. It
// must change whenever the bytes for some value, or the default volatile names, change.
inline constexpr std::string_view kCanonicaliserVersion = "rfc8785/1";

// The names of object members that are dropped at every depth.
using VolatileNames = absl::flat_hash_set<std::string>;

// Returns "@odata.etag", "DateTime", "ReadingTime", "Timestamp", "LastUpdated" and the like.
const VolatileNames& DefaultVolatileNames();

// Returns the canonical text with all members. Invalid UTF-8 is replaced by U+FFFD; NaN and
// infinities, which JSON lacks, by null.
std::string CanonicalJson(const nlohmann::json& value);
// Returns the same without the members in `volatile_names`.
std::string CanonicalJson(const nlohmann::json& value, const VolatileNames& volatile_names);

}  // namespace shoal::content
