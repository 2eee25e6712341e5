// SPDX-License-Identifier: Apache-2.0
// $filter: a condition on a collection's members (DSP0266, "Use of the $filter query parameter").
//
//   PowerState eq 'On' and not (Status/Health ne 'OK' or MemorySummary/TotalSystemMemoryGiB lt 16)
//
// Operators by falling precedence: ( ), not, eq ne gt ge lt le, and, or. A property stands on the
// left, a literal on the right: 'text' with '' for a quote, a number, true, false, null. A property
// that is absent is null. Immutable.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace shoal::mockserver {

class Filter {
 public:
  // Nothing when `text` is no such condition, nests deeper than kMaximumDepth or compares more
  // often than kMaximumComparisons.
  static std::optional<Filter> Parse(std::string_view text);
  static constexpr int kMaximumDepth = 32;
  static constexpr int kMaximumComparisons = 256;

  bool Matches(const nlohmann::json& resource) const;

 private:
  struct Node;
  class Parser;

  explicit Filter(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  static bool Holds(const Node& node, const nlohmann::json& resource);

  std::shared_ptr<const Node> root_;
};

}  // namespace shoal::mockserver
