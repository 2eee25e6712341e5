// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/byte_pair_merger.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
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

namespace {

constexpr std::int32_t kEnd = -1;
constexpr std::uint32_t kNoRank = MergeTable::kNoRank;

// Merges `size` tokens, at most kShort, and returns how many are left.
std::size_t MergeShort(const MergeTable& table, std::int32_t* ids, std::size_t size) {
  std::array<MergeTable::Merge, BytePairMerger::kShort> merges;
  for (std::size_t i = 0; i + 1 < size; ++i) merges[i] = table.Find(ids[i], ids[i + 1]);
  while (size > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < size; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == kNoRank) break;
    ids[best] = merges[best].merged;
    std::copy(ids + best + 2, ids + size, ids + best + 1);
    --size;
    if (best + 1 < size) {
      std::copy(merges.data() + best + 2, merges.data() + size, merges.data() + best + 1);
      merges[best] = table.Find(ids[best], ids[best + 1]);
    }
    if (best > 0) merges[best - 1] = table.Find(ids[best - 1], ids[best]);
  }
  return size;
}

}  // namespace

void BytePairMerger::Merge(const MergeTable& table, std::size_t first,
                           std::vector<std::int32_t>& ids) {
  const std::size_t size = ids.size() - first;
  if (size > kShort) {
    MergeLong(table, first, ids);
  } else if (size > 1) {
    ids.resize(first + MergeShort(table, ids.data() + first, size));
  }
}

void BytePairMerger::Requeue(const MergeTable& table, std::int32_t at) {
  Node& node = nodes_[static_cast<std::size_t>(at)];
  node.merge = {};
  if (node.next == kEnd) return;
  node.merge = table.Find(node.id, nodes_[static_cast<std::size_t>(node.next)].id);
  if (node.merge.rank == kNoRank) return;
  heap_.push_back(static_cast<std::uint64_t>(node.merge.rank) << 32 |
                  static_cast<std::uint32_t>(at));
}

void BytePairMerger::MergeLong(const MergeTable& table, std::size_t first,
                               std::vector<std::int32_t>& ids) {
  const std::size_t size = ids.size() - first;
  nodes_.clear();
  heap_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::int32_t>(i);
    nodes_.push_back({ids[first + i], at - 1, i + 1 < size ? at + 1 : kEnd, {}});
  }
  for (std::size_t i = 0; i < size; ++i) Requeue(table, static_cast<std::int32_t>(i));
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  const auto push = [&](std::int32_t at) {
    const std::size_t before = heap_.size();
    Requeue(table, at);
    if (heap_.size() > before) std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  };
  while (!heap_.empty()) {
    const std::uint64_t top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    const auto at = static_cast<std::int32_t>(top & 0xFFFFFFFF);
    Node& node = nodes_[static_cast<std::size_t>(at)];
    if (node.merge.rank != top >> 32) continue;
    Node& gone = nodes_[static_cast<std::size_t>(node.next)];
    node.id = node.merge.merged;
    node.next = gone.next;
    gone.merge = {};
    if (node.next != kEnd) nodes_[static_cast<std::size_t>(node.next)].previous = at;
    push(at);
    if (node.previous != kEnd) push(node.previous);
  }
  std::size_t end = first;
  for (std::int32_t at = 0; at != kEnd; at = nodes_[static_cast<std::size_t>(at)].next) {
    ids[end++] = nodes_[static_cast<std::size_t>(at)].id;
  }
  ids.resize(end);
}

}  // namespace shoal::tokens
