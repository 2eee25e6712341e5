// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/span.h"

#include <algorithm>
#include <array>
#include <string>

namespace shoal::dataset {
namespace {

constexpr std::array<const char*, kSpanKinds> kNames = {
    "response", "actions", "odata_id",   "target",     "allowable_values",
    "object",   "array",   "api_prefix", "added_token"};

}  // namespace

const char* NameOf(SpanKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

absl::StatusOr<SpanKind> ParseSpanKind(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<SpanKind>(found - kNames.begin());
  std::string all;
  for (const char* known : kNames) all += std::string(all.empty() ? "" : ", ") + known;
  return runtime::InvalidArgument("\"" + std::string(name) + "\" is no kind of span; there are " +
                                  all);
}

}  // namespace shoal::dataset
