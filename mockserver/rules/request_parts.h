// SPDX-License-Identifier: Apache-2.0
// Texts that take parts of a request: "${body:/Boot/Target}" stands for the member of its JSON that
// a pointer names, and "${path:1}" for what the first wildcard of a path matched.
//
// A text that consists of a single part becomes the member's value, of whatever type. Within a
// longer text a part becomes text; values that are not texts are written as JSON. The result is not
// searched for parts again. Names of members never take parts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

// The request's values. The struct borrows both.
struct RequestParts {
  const Json& body;
  std::span<const std::string_view> path;

  // Returns whether the body has every member that `pointers` name.
  bool Have(std::span<const std::string> pointers) const;
};

// The maximum number of parts in a JSON value, which bounds how much a request can make it grow.
inline constexpr std::size_t kMaximumParts = 16;

// Checks that every part in the texts of `json` is valid for a path with `wildcards`, and adds one
// pointer per body part to `pointers`. Otherwise returns INVALID_ARGUMENT naming the text, also
// when there are more than kMaximumParts.
absl::Status JudgeParts(const Json& json, std::size_t wildcards,
                        std::vector<std::string>& pointers);

// REQUIRES: JudgeParts returned OK, and `parts` have the pointers that it added.
Json FillParts(const Json& json, const RequestParts& parts);
std::string FillParts(const std::string& text, const RequestParts& parts);

}  // namespace shoal::mockserver
