// SPDX-License-Identifier: Apache-2.0
// The $filter query parameter: a condition on a collection's members (DSP0266, "Use of the $filter
// query parameter").
//
//   PowerState eq 'On' and not (Status/Health ne 'OK' or MemorySummary/TotalSystemMemoryGiB lt 16)
//
// The operators by falling precedence are ( ), not, eq ne gt ge lt le, and, or. A comparison has a
// property on its left and a literal on its right: 'text' with '' for a quote, a number, true,
// false or null. An absent property counts as null. Filters are immutable.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace shoal::mockserver {

class Filter {
 public:
  // Returns nothing when `text` is not a valid condition, nests deeper than kMaximumDepth or has
  // more than kMaximumComparisons comparisons.
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
