// SPDX-License-Identifier: Apache-2.0
// Spans: the parts of a chunk that have a meaning. A model can be trained on them, or have them
// hidden.
//
// A span is found on the text of a resource. It contains every token with at least one byte in that
// text, so a token that straddles an edge is inside. Where a chunk ends within a span, the chunk
// has its part of the span.
//
//   response          the answer: all tokens after the request line, or all where there is none,
//                     including the token that ends the text
//   actions           a member "Actions" that is an object: its name and its value
//   odata_id          the text of a member "@odata.id", without quotes
//   target            the text of a member "target", without quotes
//   allowable_values  the list of a member whose name ends in "AllowableValues", with its brackets
//   object, array     each object or array at any depth, with its brackets
//   api_prefix        "/redfish/v1" at the start of a text that is a URI
//   added_token       a token that was added to the vocabulary and is not special
//
// All kinds except response and added_token are found in the resource's body, never in the request
// line. Random spans are drawn when they are needed and are not stored.
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

// The tokens [begin, end) of a chunk. The spans of a chunk are sorted by kind, begin and end, and
// no two are equal.
struct Span {
  SpanKind kind = SpanKind::kResponse;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  auto operator<=>(const Span&) const = default;
};

// Returns "response", "odata_id" and so on, as above.
const char* NameOf(SpanKind kind);
// INVALID_ARGUMENT names `name` and lists the known kinds.
absl::StatusOr<SpanKind> ParseSpanKind(std::string_view name);

}  // namespace shoal::dataset
