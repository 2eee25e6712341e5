// SPDX-License-Identifier: Apache-2.0
// A placed payload is the large payload of an item that waits to be sent, in the memory from which
// it is sent: a block of a ring, or memory of its own. Small payloads stay in their items.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/large_memory.h"
#include "replay/client/block_ring.h"

namespace shoal::replay::client {

struct PlacedPayload {
  std::size_t size() const { return memory.bytes.size(); }

  // Empty where the payload is in the item.
  runtime::SharedBytes memory = {};
  // The block that this memory is, or null.
  std::shared_ptr<const RingBlock> block = nullptr;
};

// Serialises `payload`, which has so many bytes by ByteSizeLong, into `ring` if it has room; null
// is a ring without.
PlacedPayload Place(const google::protobuf::MessageLite& payload, std::size_t bytes,
                    BlockRing* ring);
PlacedPayload Place(std::unique_ptr<const std::string> payload);
// Copies the payload into `ring` if it is not there. Returns the number of bytes that were copied,
// or nothing if there is no room for it.
std::optional<std::size_t> MoveTo(BlockRing& ring, PlacedPayload& payload);

}  // namespace shoal::replay::client
