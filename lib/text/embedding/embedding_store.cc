// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_store.h"

#include <memory>
#include <vector>

#include "platform/runtime/check.h"

namespace shoal::embedding {
namespace {

// The number of entries that are tried for eviction. Held entries are moved to the recently used
// end, so that they do not accumulate at the old end.
constexpr int kEvictionTries = 64;

}  // namespace

Embedding EmbeddingStore::Find(const content::ContentKey& key) {
  const runtime::MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second.place);
  return found->second.embedding;
}

Embedding EmbeddingStore::Insert(const content::ContentKey& key,
                                 std::span<const std::uint16_t> values) {
  SHOAL_CHECK(values.size() == embedding_size_);
  auto embedding = std::make_shared<const std::vector<std::uint16_t>>(values.begin(), values.end());
  const runtime::MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second.embedding;
  order_.push_front(key);
  entries_.emplace(key, Entry{embedding, order_.begin()});
  EvictLocked();
  return embedding;
}

void EmbeddingStore::EvictLocked() {
  for (int tries = 0; tries < kEvictionTries && entries_.size() * entry_bytes() > max_bytes_ &&
                      entries_.size() > 1;
       ++tries) {
    const auto oldest = entries_.find(order_.back());
    if (oldest->second.embedding.use_count() == 1) {
      order_.pop_back();
      entries_.erase(oldest);
    } else {
      order_.splice(order_.begin(), order_, oldest->second.place);
    }
  }
}

std::size_t EmbeddingStore::size() const {
  const runtime::MutexLock lock(mutex_);
  return entries_.size();
}

std::size_t EmbeddingStore::bytes() const {
  const runtime::MutexLock lock(mutex_);
  return entries_.size() * entry_bytes();
}

}  // namespace shoal::embedding
