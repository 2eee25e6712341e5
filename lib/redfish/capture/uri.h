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

// Path of `uri` without scheme, host, query, fragment, doubled or trailing slashes.
std::string CanonicalUri(std::string_view uri);
// Whether `uri` is canonical already.
bool IsCanonicalUri(std::string_view uri);
// Whether `uri` is `root`, or `root` and more segments; both as they are written.
bool IsAtOrBelow(std::string_view uri, std::string_view root);

// The tokens of a pointer, unescaped, one after the other; "" and "/" have none. "/Boot/BootOrder"
// has Boot and BootOrder. Borrows the pointer.
class PointerWalk {
 public:
  explicit PointerWalk(std::string_view pointer);
  // The next token, valid until the next call; false at the end.
  bool Next(std::string_view& token);

 private:
  std::string_view rest_;
  std::string unescaped_;
};
// All of them.
std::vector<std::string> PointerTokens(std::string_view pointer);
// `pointer` with one more token, escaped.
std::string AppendPointer(std::string_view pointer, std::string_view token);

// What `pointer` names inside `value`; nullptr when there is nothing.
const nlohmann::json* Resolve(const nlohmann::json& value, std::string_view pointer);
// Writes `leaf` at `pointer`, making objects on the way. False when the way is blocked by a value
// that is no object, or by an array index past its end.
bool Assign(nlohmann::json& value, std::string_view pointer, nlohmann::json leaf);

// The text that an object has under `name`; empty when there is none.
std::string TextAt(const nlohmann::json& object, std::string_view name);
// The integer there; 0 when there is none.
std::int64_t IntegerAt(const nlohmann::json& object, std::string_view name);

// The URI that a {"@odata.id": "..."} names, canonical; empty when `link` is none.
std::string LinkTarget(const nlohmann::json& link);
// LinkTarget of the first member of an array of links; empty when there is none.
std::string FirstLinkTarget(const nlohmann::json* links);
// LinkTarget of each, in order, without members that are no link; none where there is no array.
std::vector<std::string> LinkTargets(const nlohmann::json* links);
// LinkTargets of a collection's Members.
std::vector<std::string> MemberUris(const nlohmann::json& collection);

}  // namespace shoal::redfish
