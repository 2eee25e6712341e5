// SPDX-License-Identifier: Apache-2.0
// Finds, in the canonical JSON of a resource, the bytes of each span that span.h describes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/dataset/span.h"

namespace shoal::dataset {

// Bytes of a text, from `begin` to before `end`.
struct TextSpan {
  SpanKind kind = SpanKind::kResponse;
  std::size_t begin = 0;
  std::size_t end = 0;

  auto operator<=>(const TextSpan&) const = default;
};

// In order of kind, begin, end; neither kResponse nor kAddedToken. REQUIRES: `json` is what
// content::CanonicalJson wrote, of a value that nests no deeper than content::kMaximumNesting.
std::vector<TextSpan> FindTextSpans(std::string_view json);

}  // namespace shoal::dataset
