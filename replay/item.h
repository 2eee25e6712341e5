// SPDX-License-Identifier: Apache-2.0
// What a table stores: an unroll as bytes that nobody here parses, and what is known about it.
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
  // Rows that carry weight.
  std::uint32_t steps = 0;
  float priority = 0;
  std::vector<Key> content_keys;
  // Catalogs and overlays.
  std::vector<Key> catalog_keys;
  std::string payload;

  std::size_t bytes() const {
    return sizeof(Item) + payload.size() +
           (content_keys.size() + catalog_keys.size()) * sizeof(Key);
  }
};

// True when `version` is older than `current` by epoch, or by more than `max_lag` steps. With
// `max_lag` 0 nothing is stale.
inline bool IsStale(const PolicyVersion& version, const PolicyVersion& current,
                    std::uint32_t max_lag) {
  if (max_lag == 0) return false;
  if (version.epoch != current.epoch) return version.epoch < current.epoch;
  return version.step < current.step && current.step - version.step > max_lag;
}

}  // namespace shoal::replay
