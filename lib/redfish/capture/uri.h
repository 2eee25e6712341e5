// SPDX-License-Identifier: Apache-2.0
// Canonical URIs of a service's resources, and JSON Pointers (RFC 6901) into their bodies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::redfish {

inline constexpr std::string_view kServiceRoot = "/redfish/v1";

// Returns the path of `uri` without scheme, host, query, fragment, and without doubled or trailing
// slashes.
std::string CanonicalUri(std::string_view uri);
// Returns whether `uri` is canonical already.
bool IsCanonicalUri(std::string_view uri);
// Returns whether `uri` is `root`, or `root` with more segments, comparing both as written.
bool IsAtOrBelow(std::string_view uri, std::string_view root);

// Yields the unescaped tokens of a pointer in order. "/Boot/BootOrder" has Boot and BootOrder; ""
// and "/" have none. The walk borrows the pointer.
class PointerWalk {
 public:
  explicit PointerWalk(std::string_view pointer);
  // Stores the next token, which is valid until the next call; returns false at the end.
  bool Next(std::string_view& token);

 private:
  std::string_view rest_;
  std::string unescaped_;
};
// Returns all tokens of `pointer`.
std::vector<std::string> PointerTokens(std::string_view pointer);
// Returns `pointer` with one more token, which is escaped.
std::string AppendPointer(std::string_view pointer, std::string_view token);

// Returns the value at `pointer` inside `value`, or nullptr when there is none.
const nlohmann::json* Resolve(const nlohmann::json& value, std::string_view pointer);
// Writes `leaf` at `pointer` and makes missing objects on the way. Returns false when a value that
// is no object, or an array index past the end, blocks the way.
bool Assign(nlohmann::json& value, std::string_view pointer, nlohmann::json leaf);

// Returns the text member `name` of an object, or an empty text when there is none.
std::string TextAt(const nlohmann::json& object, std::string_view name);
// Returns the integer member `name` of an object, or 0 when there is none.
std::int64_t IntegerAt(const nlohmann::json& object, std::string_view name);

// Returns the canonical URI of {"@odata.id": "..."}, or an empty text when `link` is none.
std::string LinkTarget(const nlohmann::json& link);
// Returns LinkTarget of the first member of an array of links, or an empty text when there is none.
std::string FirstLinkTarget(const nlohmann::json* links);
// Returns LinkTarget of each array element in order and leaves out elements that are no link.
std::vector<std::string> LinkTargets(const nlohmann::json* links);
// Returns LinkTargets of a collection's Members.
std::vector<std::string> MemberUris(const nlohmann::json& collection);

}  // namespace shoal::redfish
