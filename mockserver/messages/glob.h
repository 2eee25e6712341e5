// SPDX-License-Identifier: Apache-2.0
// A pattern over paths. `*` stands for any characters, or none, within a segment; `**` stands for
// any characters at all, or none; every other character stands for itself.
//
//   Glob::Parse("/redfish/v1/Systems/*/Actions/**")->Match("/redfish/v1/Systems/1/Actions/A.B")
//     -> {"1", "A.B"}
//
// Each wildcard takes as few characters as it can. Lengths are bounded and no combination is tried
// twice, so no path that a peer sends is expensive to match. Globs are immutable.
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
  // The limit for both a pattern and a path, in bytes. A longer path matches nothing.
  static constexpr std::size_t kMaximumLength = 512;
  static constexpr std::size_t kMaximumWildcards = 8;

  // Returns INVALID_ARGUMENT for a pattern that does not begin with '/', is too long, or has too
  // many wildcards.
  static absl::StatusOr<Glob> Parse(std::string pattern);

  // Returns what the wildcards stand for, in order, or nothing when `path` does not match. The
  // views point into `path`.
  std::optional<std::vector<std::string_view>> Match(std::string_view path) const;

  const std::string& pattern() const { return pattern_; }
  std::size_t wildcards() const { return wildcards_; }
  // The number of the pattern's characters that stand for themselves.
  std::size_t literal_length() const { return literal_length_; }

 private:
  explicit Glob(std::string pattern) : pattern_(std::move(pattern)) {}

  std::string pattern_;
  std::size_t wildcards_ = 0;
  std::size_t literal_length_ = 0;
};

}  // namespace shoal::mockserver
