// SPDX-License-Identifier: Apache-2.0
// Parts of a chunk that have a meaning: what a model can be trained on, or have hidden from it.
//
// A span is found on the text of a resource and holds every token of which at least one byte lies
// in that text: a token that straddles an edge is inside. Where a chunk ends within a span, the
// chunk has the part that it holds.
//
//   response          the answer: all after the request line, or all where there is none; with the
//                     token that ends the text
//   actions           a member "Actions" that is an object: its name and its value
//   odata_id          the text of a member "@odata.id", without quotes
//   target            the text of a member "target", without quotes
//   allowable_values  the list of a member whose name ends in "AllowableValues", with its brackets
//   object, array     each one, however deep, with its brackets
//   api_prefix        "/redfish/v1" at the front of a text that is a URI
//   added_token       a token that was added to the vocabulary and is not special
//
// All but response and added_token are of the resource's body, never of the request line. Random
// spans are drawn when they are needed and not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::dataset {

enum class SpanKind : std::uint8_t {
  kResponse,
  kActions,
  kODataId,
  kTarget,
  kAllowableValues,
  kObject,
  kArray,
  kApiPrefix,
  kAddedToken,
};
inline constexpr std::size_t kSpanKinds = 9;

// Tokens of its chunk, from `begin` to before `end`. Those of a chunk are in order of kind, then of
// begin, then of end, and no two are equal.
struct Span {
  SpanKind kind = SpanKind::kResponse;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  auto operator<=>(const Span&) const = default;
};

// "response", "odata_id" and so on, as above.
const char* NameOf(SpanKind kind);
// INVALID_ARGUMENT naming `name` and those that there are.
absl::StatusOr<SpanKind> ParseSpanKind(std::string_view name);

}  // namespace shoal::dataset
