// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding of one word: of all neighbouring pairs the one of lowest rank becomes one
// token, the leftmost first, until no pair is left that the table merges.
//
// Short words are scanned for each merge; longer ones keep their pairs in a heap over a linked
// list, so a word of n bytes takes n log n steps even when it is a megabyte of one letter. Keeps
// its memory between words; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/bpe/merge_table.h"

namespace shoal::tokens {

class BytePairMerger {
 public:
  // Up to this many tokens a word is short.
  static constexpr std::size_t kShort = 32;

  // Merges what stands in `ids` from `first` on, in place. REQUIRES: less than 2^31 of them.
  void Merge(const MergeTable& table, std::size_t first, std::vector<std::int32_t>& ids);

 private:
  struct Node {
    std::int32_t id;
    std::int32_t previous;
    std::int32_t next;
    MergeTable::Merge merge;  // with the next node
  };

  void MergeLong(const MergeTable& table, std::size_t first, std::vector<std::int32_t>& ids);
  // Looks up the pair that starts at `at` and queues it.
  void Requeue(const MergeTable& table, std::int32_t at);

  std::vector<Node> nodes_;
  // rank << 32 | node; one whose node has another rank by now is stale.
  std::vector<std::uint64_t> heap_;
};

}  // namespace shoal::tokens
