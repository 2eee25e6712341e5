// SPDX-License-Identifier: Apache-2.0
// An item is what a table stores: an unroll as bytes that nobody here parses, and what is known
// about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/client/unroll_id.h"
#include "replay/key.h"
#include "rl/parameters/version.h"

namespace shoal::replay {

using PolicyVersion = parameters::Version;

struct Item {
  UnrollId id;
  PolicyVersion oldest_version;
  PolicyVersion newest_version;
  // How many rows carry weight.
  std::uint32_t steps = 0;
  float priority = 0;
  std::vector<Key> content_keys;
  // They name catalogs and overlays.
  std::vector<Key> catalog_keys;
  std::string payload;

  // Returns the memory that a table spends on it: the item, its places in the table's books and
  // selectors, and what the allocator adds.
  std::size_t bytes() const {
    constexpr std::size_t kBookkeepingBytes = 512;
    return sizeof(Item) + kBookkeepingBytes + payload.size() +
           (content_keys.size() + catalog_keys.size()) * sizeof(Key);
  }
};

// Returns true when `version` is older than `current` by epoch, or by more than `max_lag` steps.
// With `max_lag` 0 nothing is stale.
inline bool IsStale(const PolicyVersion& version, const PolicyVersion& current,
                    std::uint32_t max_lag) {
  if (max_lag == 0) return false;
  if (version.epoch != current.epoch) return version.epoch < current.epoch;
  return version.step < current.step && current.step - version.step > max_lag;
}

}  // namespace shoal::replay
