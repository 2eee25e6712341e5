// SPDX-License-Identifier: Apache-2.0
// An item is what a table stores: an unroll as bytes, which replay never parses, with its metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/client/unroll_id.h"
#include "replay/key.h"
#include "rl/parameters/version.h"

namespace shoal::replay {

using PolicyVersion = parameters::Version;
using VersionRange = parameters::VersionRange;

// The contents to which a payload refers.
struct ItemKeys {
  std::vector<Key> contents = {};
  // The keys of catalogs and overlays.
  std::vector<Key> catalogs = {};
  std::vector<Key> chunks = {};

  std::size_t size() const { return contents.size() + catalogs.size() + chunks.size(); }
};

struct Item {
  UnrollId id;
  PolicyVersion oldest_version;
  PolicyVersion newest_version;
  // The number of rows that carry weight.
  std::uint32_t steps = 0;
  // How many of them are no further steps of an environment.
  std::uint32_t uncounted_steps = 0;
  float priority = 0;
  // The size of the payload, where it is on disk and `payload` is empty.
  std::uint32_t spilled_bytes = 0;
  // Null where the payload refers to none, so that small items stay small.
  std::shared_ptr<const ItemKeys> keys;
  // Never changed once a table has the item.
  std::string payload;

  std::size_t payload_bytes() const { return payload.size() + spilled_bytes; }
  bool spilled() const { return spilled_bytes > 0; }
  // The item as it stays in memory while its payload is on disk.
  Item WithoutPayload() const {
    return {.id = id,
            .oldest_version = oldest_version,
            .newest_version = newest_version,
            .steps = steps,
            .uncounted_steps = uncounted_steps,
            .priority = priority,
            .spilled_bytes = static_cast<std::uint32_t>(payload_bytes()),
            .keys = keys,
            .payload = {}};
  }
  // The item as it was, with the payload that was on disk.
  Item WithPayload(std::string read) const {
    Item item = *this;
    item.payload = std::move(read);
    item.spilled_bytes = 0;
    return item;
  }

  // Returns what a table counts for it: the item, its bookkeeping in the table and the selectors,
  // and what the allocator adds. What is on disk counts as if it were in memory.
  std::size_t bytes() const {
    constexpr std::size_t kBookkeepingBytes = 512;
    return sizeof(Item) + kBookkeepingBytes + payload_bytes() +
           (keys == nullptr ? 0 : sizeof(ItemKeys) + keys->size() * sizeof(Key));
  }
};

// Returns true if `version` is of an earlier epoch than `current` or lags by more than `max_lag`
// steps. With `max_lag` 0 nothing is stale.
inline bool IsStale(const PolicyVersion& version, const PolicyVersion& current,
                    std::uint32_t max_lag) {
  if (max_lag == 0) return false;
  if (version.epoch != current.epoch) return version.epoch < current.epoch;
  return version.step < current.step && current.step - version.step > max_lag;
}

}  // namespace shoal::replay
