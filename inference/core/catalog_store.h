// SPDX-License-Identifier: Apache-2.0
// Catalogs and overlays by key, and the candidate tables that the policy needs of them.
//
// A table is made once, when the embeddings of all its candidates are there, and is shared by all
// rows that name its key; an overlay's table shares its base's. The store is bounded by
// `max_bytes`, in which each list counts with everything that goes when the list goes: its keys,
// its table, the keys that policies cached for the table, and the embeddings that it keeps in the
// content store. Past the bound the least recently used lists leave, and are asked for again by
// NEED_CATALOG. The newest list stays, and so does a list whose table a row, an open unroll or an
// overlay still holds, since its memory would not come back. Thread-safe; whoever resolves a key
// first makes its table, without holding the lock.
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

// The model's CandidateTable::Create, behind a seam so that the core links without torch.
using TableFactory = std::function<absl::StatusOr<std::shared_ptr<const model::CandidateTable>>(
    const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
    std::shared_ptr<const model::CandidateTable> base)>;

// A catalog, or an overlay when it has a base.
struct CandidateList {
  content::ContentKey key;
  std::optional<content::ContentKey> base;
  // Overlay: indices into the base.
  std::vector<std::uint32_t> removed;
  // Catalog: all candidates; overlay: the appended ones.
  std::vector<content::ContentKey> candidates;
};

class CatalogStore {
 public:
  struct Resolution {
    // Ready when set.
    std::shared_ptr<const Candidates> candidates = nullptr;
    // Neither ready nor unknown: contents whose embeddings are not there yet.
    std::vector<content::ContentKey> missing_contents = {};
    // The key, or its base, was never sent.
    std::optional<content::ContentKey> missing_list = std::nullopt;
  };

  static constexpr std::size_t kMaxCandidates = 1 << 20;

  CatalogStore(embedding::EmbeddingStore& contents, TableFactory factory,
               std::size_t max_bytes = std::size_t{1} << 30)
      : contents_(contents), factory_(std::move(factory)), max_bytes_(max_bytes) {}

  // INVALID_ARGUMENT: the key is not the list's own, the list is empty or too long, or an index is
  // repeated or out of order. A known key is OK.
  absl::Status Add(CandidateList list) ABSL_LOCKS_EXCLUDED(mutex_);

  // INVALID_ARGUMENT when no table can be made of the list.
  absl::StatusOr<Resolution> Resolve(const content::ContentKey& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // As it was sent.
  std::optional<CandidateList> Find(const content::ContentKey& key) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Of all lists, as bounded by `max_bytes`.
  std::size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    CandidateList list;
    std::shared_ptr<const Candidates> candidates;
    std::size_t bytes = 0;
    // Place in order_.
    std::list<content::ContentKey>::iterator place;
  };

  std::size_t BytesOf(const Entry& entry) const;
  // False for a key that is not there.
  bool IsOverlay(const content::ContentKey& key) const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> ResolveOverlay(const CandidateList& list) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> Make(const CandidateList& list,
                                  std::shared_ptr<const Candidates> base);
  // Makes the entry and its base the most recently used ones, counts their bytes anew, and makes
  // room where those grew.
  void UseLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TouchLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets lists go that were used before `newest` until the rest fits.
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

// The key that a list of these parts must have.
content::ContentKey KeyOf(const CandidateList& list);

}  // namespace shoal::inference
