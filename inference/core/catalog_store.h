// SPDX-License-Identifier: Apache-2.0
// Catalogs and overlays by key, and the candidate tables that the policy needs of them.
//
// A table is made once, when the embeddings of all its candidates are there, and shared by all rows
// that name its key; an overlay's shares that of its base. Past `max_bytes` of lists and tables
// together the least recently used ones leave, and are asked for again by NEED_CATALOG; the newest
// stays, and so do those whose table a row or an open unroll still holds: their memory would not
// come back. Thread-safe; a table is made without holding the lock, by whoever resolves first.
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

  // Of lists and tables, with what keeping them costs.
  std::size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    CandidateList list;
    std::shared_ptr<const Candidates> candidates;
    std::size_t bytes = 0;
    // Place in order_.
    std::list<content::ContentKey>::iterator place;
  };

  std::size_t TableBytes(std::size_t candidates) const;
  // False for a key that is not there.
  bool IsOverlay(const content::ContentKey& key) const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> ResolveOverlay(const CandidateList& list) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Resolution> Make(const CandidateList& list,
                                  std::shared_ptr<const Candidates> base);
  void TouchLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GrowLocked(Entry& entry, std::size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

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
