// SPDX-License-Identifier: Apache-2.0
#include "replay/client/placed_payload.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace shoal::replay::client {
namespace {

PlacedPayload InBlock(std::shared_ptr<const RingBlock> block) {
  return {.memory = {.bytes = block->bytes(), .owner = block}, .block = block};
}

}  // namespace

PlacedPayload Place(const google::protobuf::MessageLite& payload, std::size_t bytes,
                    BlockRing* ring) {
  const auto write = [&payload](char* to) {
    payload.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(to));
  };
  if (ring != nullptr) {
    if (std::shared_ptr<RingBlock> block = ring->Allocate(bytes)) {
      write(block->data());
      return InBlock(std::move(block));
    }
  }
  const auto own = std::make_shared_for_overwrite<char[]>(bytes);
  write(own.get());
  return {.memory = {.bytes = {own.get(), bytes}, .owner = own}};
}

PlacedPayload Place(std::unique_ptr<const std::string> payload) {
  const std::shared_ptr<const std::string> own = std::move(payload);
  return {.memory = {.bytes = *own, .owner = own}};
}

std::optional<std::size_t> MoveTo(BlockRing& ring, PlacedPayload& payload) {
  if (payload.block != nullptr && payload.block->ring() == &ring) return 0;
  std::shared_ptr<RingBlock> block = ring.Allocate(payload.size());
  if (block == nullptr) return std::nullopt;
  payload.memory.bytes.copy(block->data(), payload.size());
  payload = InBlock(std::move(block));
  return payload.size();
}

}  // namespace shoal::replay::client
