// SPDX-License-Identifier: Apache-2.0
// Embeddings in memory by content key, for one encoder version.
//
// The store is bounded by bytes. It evicts the least recently used embedding that nobody else
// holds. Embeddings that are held (by rows in work or by catalogs, say) stay, even beyond the
// bound. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/mutex.h"
#include "text/embedding/embedding.h"

namespace shoal::embedding {

class EmbeddingStore {
 public:
  // `embedding_size` is D.
  EmbeddingStore(std::string encoder_version, std::size_t embedding_size, std::size_t max_bytes)
      : encoder_version_(std::move(encoder_version)),
        embedding_size_(embedding_size),
        max_bytes_(max_bytes) {}

  // Returns null when unknown. The zero key is never found.
  Embedding Find(const content::ContentKey& key) ABSL_LOCKS_EXCLUDED(mutex_);
  // Inserts `values` unless the key is known, and returns the stored embedding. REQUIRES: `values`
  // has D elements.
  Embedding Insert(const content::ContentKey& key, std::span<const std::uint16_t> values)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string& encoder_version() const { return encoder_version_; }
  std::size_t embedding_size() const { return embedding_size_; }
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    Embedding embedding;
    std::list<content::ContentKey>::iterator place;
  };

  std::size_t entry_bytes() const { return embedding_size_ * 2 + 160; }
  void EvictLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string encoder_version_;
  const std::size_t embedding_size_;
  const std::size_t max_bytes_;

  mutable runtime::Mutex mutex_;
  std::unordered_map<content::ContentKey, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // The most recently used comes first.
  std::list<content::ContentKey> order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::embedding
