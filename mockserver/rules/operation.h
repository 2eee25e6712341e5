// SPDX-License-Identifier: Apache-2.0
// Changes of a service written as data: what rules and handlers outside may do to an instance.
//
//   {"set":    {"uri"?, "pointer": "/IndicatorLED", "value": "Lit"}}
//   {"delete": {"uri"?, "pointer": "/AssetTag"}}     a property; what is not there is fine
//   {"delete": {"uri"?}}                             a resource, all below it, and its membership
//   {"create": {"collection"?, "name"?, "json": {..}}}  a member, listed; "name" is its last
//                                                    segment, else the collection's next number;
//                                                    "Id" is the name when `json` has none
//   {"record": {"uri"?, "kind": "boot", "detail"?: {..}}}  history, for predicates ("happened")
//
// A "uri" or "collection" that is left out is the resource that the request addresses; of an
// action, the one that has it.
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
  // Nothing: the resource that the request addresses.
  std::optional<std::string> uri;
  // Of kSet and kErase.
  std::string pointer;
  // A new member's name, empty for the next number; a record's kind.
  std::string name;
  // What is set, the new member's JSON, or the record's detail.
  Json value;
};

// INVALID_ARGUMENT naming the operation and its member, or more than kMaximumOperations.
absl::StatusOr<std::vector<Operation>> ParseOperations(const Json& list);

// `operations` with the parts of a request in URIs, names and values.
std::vector<Operation> FillParts(const std::vector<Operation>& operations,
                                 const RequestParts& parts);

// Does all, in order, or none: they are judged together before the first. NOT_FOUND: a resource is
// not there; FAILED_PRECONDITION: a pointer leads nowhere, or a new member's name is taken or no
// name. Of what one operation takes from under a later one the later does nothing. Returns the
// first member that was made. `requested` is the URI of the resource that the request addresses.
absl::StatusOr<std::optional<ResourceId>> Perform(Editor& editor,
                                                  const std::vector<Operation>& operations,
                                                  std::string_view requested);

}  // namespace shoal::mockserver
