// SPDX-License-Identifier: Apache-2.0
// Interfaces to the disk that takes the payloads and chunks for which a shard has no memory.
// replay/durability has what writes and reads them; the core knows only these interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "replay/item.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

// Takes the payloads of one table. It is called under the shard's lock, so it must not wait.
class Spill {
 public:
  virtual ~Spill() = default;
  // Takes the payload of an item to write it. It can be read once the journal's durable() has
  // reached the position that this returns. Positions do not descend. The item is immutable and may
  // be kept.
  virtual std::uint64_t Write(Handle handle, const std::shared_ptr<const Item>& item) = 0;
  // An item has left for which Write was called.
  virtual void Erase(Handle handle) = 0;
};

// Reads payloads that tables have given up, and chunks that the shard's contents have, as they were
// when this object was made. So they can still be read when they have left meanwhile. While such an
// object is there, the disk space of what has left is not used again.
//
// Thread-safe. Calls wait for the disk, so none may be made under the shard's lock.
class SpilledPayloads {
 public:
  virtual ~SpilledPayloads() = default;
  // Returns the payloads of items of the shard's table with this index, in the order of `handles`.
  // Those of items that came one after another are read together. Logs each failure with table and
  // handle:
  //   DATA_LOSS    the item's record is damaged or gone.
  //   UNAVAILABLE  the disk cannot be read.
  virtual std::vector<absl::StatusOr<std::string>> Read(std::size_t table,
                                                        std::span<const Handle> handles) const = 0;
  // Returns the data of the chunks with these numbers (replay/content_store.h), in their order.
  // Those of chunks that came one after another are read together. Logs each failure with the
  // number. The errors are those above.
  virtual std::vector<absl::StatusOr<std::string>> ReadChunks(
      std::span<const std::uint64_t> numbers) const = 0;
};

}  // namespace shoal::replay
