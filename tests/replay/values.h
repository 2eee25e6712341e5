// SPDX-License-Identifier: Apache-2.0
// Small values for the tests of the replay core.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/content_store.h"
#include "replay/item.h"

namespace shoal::replay {

inline Key KeyNumber(int number) { return content::KeyOf("content " + std::to_string(number)); }

inline Content EmbeddingNumber(int number, const std::string& encoder = "encoder") {
  return {.key = KeyNumber(number),
          .body = Embedding{.encoder_version = encoder, .vector = std::string(64, 'v')}};
}

inline Content ChunkNumber(int number, std::size_t bytes = 64) {
  return {.key = KeyNumber(number), .body = Chunk{.data = std::string(bytes, 'c')}};
}

inline std::shared_ptr<const ItemKeys> ContentKeys(std::vector<Key> keys) {
  return std::make_shared<const ItemKeys>(ItemKeys{.contents = std::move(keys)});
}
inline std::shared_ptr<const ItemKeys> CatalogKeys(std::vector<Key> keys) {
  return std::make_shared<const ItemKeys>(ItemKeys{.catalogs = std::move(keys)});
}
inline std::shared_ptr<const ItemKeys> ChunkKeys(std::vector<Key> keys) {
  return std::make_shared<const ItemKeys>(ItemKeys{.chunks = std::move(keys)});
}

inline std::shared_ptr<Item> ItemNumber(std::uint64_t number, std::uint64_t step = 0,
                                        std::size_t payload = 100) {
  auto item = std::make_shared<Item>();
  item->id = {.environment_id = number, .incarnation = 1, .first_sequence = 0};
  item->oldest_version = item->newest_version = {.epoch = 1, .step = step};
  item->steps = 10;
  item->payload = std::string(payload, 'p');
  return item;
}

}  // namespace shoal::replay
