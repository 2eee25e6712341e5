// SPDX-License-Identifier: Apache-2.0
// A pattern over paths: `*` stands for any characters within a segment, `**` for any at all, none
// included; every other character is itself.
//
//   Glob::Parse("/redfish/v1/Systems/*/Actions/**")->Match("/redfish/v1/Systems/1/Actions/A.B")
//     -> {"1", "A.B"}
//
// Each wildcard takes as little as it can. Immutable. Lengths are bounded and what was tried is not
// tried again, so that no peer's path is expensive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::mockserver {

class Glob {
 public:
  // Of a pattern, and of a path: a longer path matches nothing.
  static constexpr std::size_t kMaximumLength = 512;
  static constexpr std::size_t kMaximumWildcards = 8;

  // INVALID_ARGUMENT for a pattern that does not begin with '/', is too long, or has too many
  // wildcards.
  static absl::StatusOr<Glob> Parse(std::string pattern);

  // What the wildcards stand for, in order; nothing when `path` is another's. Points into `path`.
  std::optional<std::vector<std::string_view>> Match(std::string_view path) const;

  const std::string& pattern() const { return pattern_; }
  std::size_t wildcards() const { return wildcards_; }
  // Characters of the pattern that are themselves.
  std::size_t literal_length() const { return literal_length_; }

 private:
  explicit Glob(std::string pattern) : pattern_(std::move(pattern)) {}

  std::string pattern_;
  std::size_t wildcards_ = 0;
  std::size_t literal_length_ = 0;
};

}  // namespace shoal::mockserver
