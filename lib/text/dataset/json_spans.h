// SPDX-License-Identifier: Apache-2.0
// Finds the bytes of the spans that span.h describes, in the canonical JSON of a resource.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/dataset/span.h"

namespace shoal::dataset {

// The bytes [begin, end) of a text.
struct TextSpan {
  SpanKind kind = SpanKind::kResponse;
  std::size_t begin = 0;
  std::size_t end = 0;

  auto operator<=>(const TextSpan&) const = default;
};

// Returns the spans in the order of kind, begin, end, without kResponse and kAddedToken. REQUIRES:
// content::CanonicalJson wrote `json` from a value that nests no deeper than
// content::kMaximumNesting.
std::vector<TextSpan> FindTextSpans(std::string_view json);

}  // namespace shoal::dataset
