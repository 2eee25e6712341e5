// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/merge_table.h"

#include <bit>
#include <utility>

namespace shoal::tokens {

MergeTable::MergeTable(std::vector<MergeRule> rules)
    : rules_(std::move(rules)),
      places_(std::bit_ceil(2 * rules_.size() + 2)),
      mask_(places_.size() - 1) {
  for (std::size_t rank = 0; rank < rules_.size(); ++rank) {
    const MergeRule& rule = rules_[rank];
    std::size_t at = Home(rule.left, rule.right);
    const auto is_other = [&rule](const Place& place) {
      return place.left != kFree && (place.left != rule.left || place.right != rule.right);
    };
    while (is_other(places_[at])) at = (at + 1) & mask_;
    places_[at] = {rule.left, rule.right, {static_cast<std::uint32_t>(rank), rule.merged}};
  }
}

}  // namespace shoal::tokens
