// SPDX-License-Identifier: Apache-2.0
// Changes of a service written as data: what rules and external handlers may do to an instance.
//
//   {"set":    {"uri"?, "pointer": "/IndicatorLED", "value": "Lit"}}
//   {"delete": {"uri"?, "pointer": "/AssetTag"}}     a property, which may be absent
//   {"delete": {"uri"?}}                             a resource, all below it, and its membership
//   {"create": {"collection"?, "name"?, "json": {..}}}  a member, listed; "name" is its last
//                                                    segment, else the collection's next number;
//                                                    "Id" is the name when `json` has none
//   {"record": {"uri"?, "kind": "boot", "detail"?: {..}}}  history, for predicates ("happened")
//
// The default of "uri" and "collection" is the resource that the request addresses; for an action
// it is the resource that has the action.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/rules/request_parts.h"
#include "mockserver/service/editor.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumOperations = 64;

struct Operation {
  enum class Kind : std::uint8_t { kSet, kErase, kRemove, kCreate, kRecord };

  Kind kind = Kind::kSet;
  // Nothing means the resource that the request addresses.
  std::optional<std::string> uri;
  // The property of kSet and kErase.
  std::string pointer;
  // A new member's name, which is empty for the next number, or a record's kind.
  std::string name;
  // The value to set, the new member's JSON, or the record's detail.
  Json value;
};

// Returns INVALID_ARGUMENT naming the operation and its member, or for more than
// kMaximumOperations.
absl::StatusOr<std::vector<Operation>> ParseOperations(const Json& list);

// Returns `operations` with the parts of a request filled into URIs, names and values.
std::vector<Operation> FillParts(const std::vector<Operation>& operations,
                                 const RequestParts& parts);

// Performs all operations in order, or none: they are all judged before the first is performed. An
// operation whose target an earlier one has removed does nothing. Returns the first member that was
// created. NOT_FOUND: a resource does not exist; FAILED_PRECONDITION: a pointer leads nowhere, or a
// new member's name is taken or invalid. `requested` is the URI of the resource that the request
// addresses.
absl::StatusOr<std::optional<ResourceId>> Perform(Editor& editor,
                                                  const std::vector<Operation>& operations,
                                                  std::string_view requested);

}  // namespace shoal::mockserver
