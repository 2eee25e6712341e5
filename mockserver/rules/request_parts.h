// SPDX-License-Identifier: Apache-2.0
// Texts that take parts of a request: "${body:/Boot/Target}", the member of its JSON that a pointer
// names, and "${path:1}", what the first wildcard of a path stands for.
//
// A text that is one part alone becomes the member's value, of whatever type; within a longer text
// a part becomes text, other values as JSON. What was filled in is not looked at again. Names of
// members never take parts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

// Borrows both.
struct RequestParts {
  const Json& body;
  std::span<const std::string_view> path;

  // Whether the body has what all of `pointers` name.
  bool Have(std::span<const std::string> pointers) const;
};

// How often something may take parts: bounds what a request grows to.
inline constexpr std::size_t kMaximumParts = 16;

// Every part in the texts of `json` is one of the two, and of a path with `wildcards`; adds one
// pointer a body part to `pointers`. INVALID_ARGUMENT naming the text otherwise, or when there are
// more than kMaximumParts.
absl::Status JudgeParts(const Json& json, std::size_t wildcards,
                        std::vector<std::string>& pointers);

// REQUIRES: JudgeParts had nothing to say, and `parts` have the pointers that it gave.
Json FillParts(const Json& json, const RequestParts& parts);
std::string FillParts(const std::string& text, const RequestParts& parts);

}  // namespace shoal::mockserver
