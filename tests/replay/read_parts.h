// SPDX-License-Identifier: Apache-2.0
// Reads what a sampled batch lacks, as a stream does, but on the caller's thread.
#pragma once

#include <cstddef>

#include "replay/shard.h"

namespace shoal::replay {

// Returns what Shard::FinishReads does.
inline bool ReadAll(Shard& shard, SampleBatch& batch) {
  for (std::size_t first = 0; batch.payloads != nullptr && first < Parts(batch);) {
    const std::size_t count = Neighbours(batch, first);
    ReadParts(batch, first, count);
    first += count;
  }
  return shard.FinishReads(batch);
}

}  // namespace shoal::replay
