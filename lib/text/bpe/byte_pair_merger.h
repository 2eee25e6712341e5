// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding of one word. Of all neighbouring pairs, the one of lowest rank becomes one
// token, the leftmost first, until the table merges none of the remaining pairs.
//
// Short words are scanned for each merge. Longer ones keep their pairs in a heap over a linked
// list, so a word of n bytes takes O(n log n) steps, even a megabyte of one letter. The merger
// keeps its memory between words; it is not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace shoal::tokens {

// The merges of neighbouring tokens and their ranks: an open-addressing hash table of pairs of ids,
// 16 bytes for each slot, at most half full.
//
// Immutable; thread-safe.

// The pair `left`, `right` becomes `merged`.
struct MergeRule {
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::int32_t merged = 0;

  bool operator==(const MergeRule&) const = default;
};

class MergeTable {
 public:
  static constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

  struct Merge {
    // A lower rank is merged first; kNoRank means that the pair is not merged.
    std::uint32_t rank = kNoRank;
    std::int32_t merged = 0;
  };

  // `rules` are in the order of rank; of equal pairs the last counts. REQUIRES: ids are not
  // negative.
  explicit MergeTable(std::vector<MergeRule> rules);

  Merge Find(std::int32_t left, std::int32_t right) const {
    for (std::size_t at = Home(left, right);; at = (at + 1) & mask_) {
      const Place& place = places_[at];
      if (place.left == left && place.right == right) return place.merge;
      if (place.left == kFree) return {};
    }
  }

  // The rules as they were given.
  const std::vector<MergeRule>& rules() const { return rules_; }

 private:
  static constexpr std::int32_t kFree = -1;

  struct Place {
    std::int32_t left = kFree;
    std::int32_t right = 0;
    Merge merge;
  };

  std::size_t Home(std::int32_t left, std::int32_t right) const {
    const auto pair = static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
    return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ULL) >> 32) & mask_;
  }

  std::vector<MergeRule> rules_;
  std::vector<Place> places_;
  std::size_t mask_ = 0;
};

class BytePairMerger {
 public:
  // A word with up to this many tokens is short.
  static constexpr std::size_t kShort = 32;

  // Merges the elements of `ids` from `first` on, in place. REQUIRES: there are fewer than 2^31.
  void Merge(const MergeTable& table, std::size_t first, std::vector<std::int32_t>& ids);

 private:
  struct Node {
    std::int32_t id;
    std::int32_t previous;
    std::int32_t next;
    MergeTable::Merge merge;  // with the next node
  };

  void MergeLong(const MergeTable& table, std::size_t first, std::vector<std::int32_t>& ids);
  // Looks up the pair that starts at `at`, and queues it.
  void Requeue(const MergeTable& table, std::int32_t at);

  std::vector<Node> nodes_;
  // An entry is rank << 32 | node. It is stale if its node has another rank by now.
  std::vector<std::uint64_t> heap_;
};

}  // namespace shoal::tokens
