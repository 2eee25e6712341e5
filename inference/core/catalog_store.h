// SPDX-License-Identifier: Apache-2.0
// A store of catalogs and overlays by key, with the candidate tables that the policy makes of them.
//
// A table is made once all embeddings of its candidates are there, and all rows that name its key
// share it; the table of an overlay shares the table of its base. The store is bounded by
// `max_bytes`. A list counts with everything that is freed with it: its keys, its table, the keys
// that policies cached for the table, and the embeddings that it keeps in the content store. Above
// the bound the least recently used lists are evicted, and clients are asked for them again by
// NEED_CATALOG. The newest list is never evicted, nor is a list whose table is still held by a row,
// an open unroll or an overlay, since that would free nothing. Thread-safe; the thread that
// resolves a key first makes its table without holding the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "inference/core/row_block.h"
#include "platform/content/content_key.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/embedding/embedding_store.h"

namespace shoal::inference {

// CandidateTable::Create of the model, passed as a function so that the core links without torch.
using TableFactory = std::function<absl::StatusOr<std::shared_ptr<const model::CandidateTable>>(
    const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
    std::shared_ptr<const model::CandidateTable> base)>;

// A catalog or, if it has a base, an overlay.
struct CandidateList {
  content::ContentKey key;
  std::optional<content::ContentKey> base;
  // The indices of the base's candidates that an overlay removes. Empty for a catalog.
  std::vector<std::uint32_t> removed;
  // All candidates of a catalog, or those that an overlay appends.
  std::vector<content::ContentKey> candidates;
};

class CatalogStore {
 public:
  struct Resolution {
    // Set when the list is ready for the policy.
    std::shared_ptr<const Candidates> candidates = nullptr;
    // Contents whose embeddings are not there yet. Empty when the list is ready or unknown.
    std::vector<content::ContentKey> missing_contents = {};
    // The key, or that of its base, if it was never sent or has been evicted.
    std::optional<content::ContentKey> missing_list = std::nullopt;
  };

  static constexpr std::size_t kMaxCandidates = 1 << 20;

  CatalogStore(embedding::EmbeddingStore& contents, TableFactory factory,
               std::size_t max_bytes = std::size_t{1} << 30)
      : contents_(contents), factory_(std::move(factory)), max_bytes_(max_bytes) {}

  // Adding a known key has no effect. Returns INVALID_ARGUMENT if the key does not match the list,
  // the list is empty or too long, or an index is repeated or out of order.
  absl::Status Add(CandidateList list) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns INVALID_ARGUMENT when no table can be made of the list.
  absl::StatusOr<Resolution> Resolve(const content::ContentKey& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the list as it was sent.
  std::optional<CandidateList> Find(const content::ContentKey& key) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The size of all lists, which `max_bytes` bounds.
  std::size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    CandidateList list;
    std::shared_ptr<const Candidates> candidates;
    std::size_t bytes = 0;
    // The entry's place in `order_`.
    std::list<content::ContentKey>::iterator place;
  };

  std::size_t BytesOf(const Entry& entry) const;
  // Returns false for an unknown key.
  bool IsOverlay(const content::ContentKey& key) const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> ResolveOverlay(const CandidateList& list) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> Make(const CandidateList& list,
                                  std::shared_ptr<const Candidates> base);
  // Makes the entry and its base the most recently used ones, counts their bytes again, and evicts
  // other lists if the total grew.
  void UseLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TouchLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Evicts lists that were used before `newest` until the rest fits.
  void EvictLocked(const Entry& newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  embedding::EmbeddingStore& contents_;
  const TableFactory factory_;
  const std::size_t max_bytes_;

  mutable runtime::Mutex mutex_;
  std::unordered_map<content::ContentKey, Entry> lists_ ABSL_GUARDED_BY(mutex_);
  // Least recently used first.
  std::list<content::ContentKey> order_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns the key of a list with these parts.
content::ContentKey KeyOf(const CandidateList& list);

}  // namespace shoal::inference
