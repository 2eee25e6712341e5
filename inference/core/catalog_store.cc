// SPDX-License-Identifier: Apache-2.0
#include "inference/core/catalog_store.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "platform/content/overlay_key.h"

namespace shoal::inference {
namespace {

absl::Status Check(const CandidateList& list) {
  const std::string name = (list.base ? "overlay " : "catalog ") + list.key.ToHex();
  if (KeyOf(list) != list.key) return runtime::InvalidArgument(name + " does not match its key");
  if (list.candidates.size() > CatalogStore::kMaxCandidates) {
    return runtime::InvalidArgument(name + " has more than " +
                                    std::to_string(CatalogStore::kMaxCandidates) + " candidates");
  }
  if (!list.base && list.candidates.empty()) return runtime::InvalidArgument(name + " is empty");
  for (std::size_t i = 1; i < list.removed.size(); ++i) {
    if (list.removed[i] <= list.removed[i - 1]) {
      return runtime::InvalidArgument(name + " removes indices out of order");
    }
  }
  for (const content::ContentKey& key : list.candidates) {
    if (key.IsZero()) return runtime::InvalidArgument(name + " names an empty candidate");
  }
  return absl::OkStatus();
}

// The size of the nodes in the map and in the order, and what the allocator adds to them.
constexpr std::size_t kEntryOverhead = 384;
constexpr std::size_t kCandidatesOverhead = 160;
// The bytes that the content store needs for an embedding besides its numbers.
constexpr std::size_t kEmbeddingOverhead = 160;

}  // namespace

content::ContentKey KeyOf(const CandidateList& list) {
  if (!list.base) return content::KeyOf(std::span<const content::ContentKey>(list.candidates));
  return content::OverlayKey(*list.base, list.removed, list.candidates);
}

absl::Status CatalogStore::Add(CandidateList list) {
  SHOAL_RETURN_IF_ERROR(Check(list));
  const runtime::MutexLock lock(mutex_);
  const auto [found, added] = lists_.try_emplace(list.key);
  Entry& entry = found->second;
  if (added) {
    entry.place = order_.insert(order_.end(), list.key);
    entry.list = std::move(list);
  }
  UseLocked(entry);
  return absl::OkStatus();
}

absl::StatusOr<CatalogStore::Resolution> CatalogStore::Resolve(const content::ContentKey& key) {
  CandidateList list;
  {
    const runtime::MutexLock lock(mutex_);
    const auto found = lists_.find(key);
    if (found == lists_.end()) return Resolution{.missing_list = key};
    UseLocked(found->second);
    if (found->second.candidates) return Resolution{.candidates = found->second.candidates};
    list = found->second.list;
  }
  SHOAL_ASSIGN_OR_RETURN(Resolution made, list.base ? ResolveOverlay(list) : Make(list, nullptr));
  if (!made.candidates) return made;
  const runtime::MutexLock lock(mutex_);
  const auto found = lists_.find(key);
  if (found == lists_.end()) return made;
  if (!found->second.candidates) found->second.candidates = made.candidates;
  UseLocked(found->second);
  return Resolution{.candidates = found->second.candidates};
}

absl::StatusOr<CatalogStore::Resolution> CatalogStore::ResolveOverlay(const CandidateList& list) {
  if (IsOverlay(*list.base)) {
    return runtime::InvalidArgument("overlay " + list.key.ToHex() + " has an overlay as its base");
  }
  SHOAL_ASSIGN_OR_RETURN(Resolution below, Resolve(*list.base));
  if (!below.candidates) return below;
  return Make(list, std::move(below.candidates));
}

absl::StatusOr<CatalogStore::Resolution> CatalogStore::Make(
    const CandidateList& list, std::shared_ptr<const Candidates> base) {
  const std::size_t below = base == nullptr ? 0 : static_cast<std::size_t>(base->count);
  for (const std::uint32_t index : list.removed) {
    if (index >= below) {
      return runtime::InvalidArgument("overlay " + list.key.ToHex() + " removes candidate " +
                                      std::to_string(index) + " of " + std::to_string(below));
    }
  }
  const std::vector<content::ContentKey>& keys = list.candidates;
  Resolution resolution;
  auto candidates = std::make_shared<Candidates>();
  candidates->embeddings.reserve(keys.size());
  for (const content::ContentKey& key : keys) {
    embedding::Embedding embedding = contents_.Find(key);
    if (!embedding) resolution.missing_contents.push_back(key);
    candidates->embeddings.push_back(std::move(embedding));
  }
  if (!resolution.missing_contents.empty()) return resolution;
  const std::size_t row_bytes = contents_.embedding_size() * sizeof(std::uint16_t);
  runtime::Tensor embeddings(runtime::DType::kFloat16,
                             {static_cast<std::int64_t>(keys.size()),
                              static_cast<std::int64_t>(contents_.embedding_size())});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::memcpy(embeddings.mutable_bytes().data() + i * row_bytes,
                candidates->embeddings[i]->data(), row_bytes);
  }
  SHOAL_ASSIGN_OR_RETURN(candidates->table, factory_(embeddings, list.removed,
                                                     base == nullptr ? nullptr : base->table));
  candidates->key = list.key;
  candidates->count = static_cast<std::int64_t>(below + keys.size());
  candidates->base = std::move(base);
  resolution.candidates = std::move(candidates);
  return resolution;
}

std::size_t CatalogStore::BytesOf(const Entry& entry) const {
  const CandidateList& list = entry.list;
  std::size_t bytes = kEntryOverhead + list.removed.capacity() * sizeof(std::uint32_t) +
                      list.candidates.capacity() * sizeof(content::ContentKey);
  if (entry.candidates == nullptr) return bytes;
  const std::size_t each = sizeof(embedding::Embedding) + kEmbeddingOverhead +
                           contents_.embedding_size() * sizeof(std::uint16_t);
  bytes += kCandidatesOverhead + entry.candidates->embeddings.size() * each;
  if (entry.candidates->table != nullptr) bytes += entry.candidates->table->bytes();
  return bytes;
}

std::optional<CandidateList> CatalogStore::Find(const content::ContentKey& key) const {
  const runtime::MutexLock lock(mutex_);
  const auto found = lists_.find(key);
  if (found == lists_.end()) return std::nullopt;
  return found->second.list;
}

bool CatalogStore::IsOverlay(const content::ContentKey& key) const {
  const runtime::MutexLock lock(mutex_);
  const auto found = lists_.find(key);
  return found != lists_.end() && found->second.list.base.has_value();
}

std::size_t CatalogStore::bytes() const {
  const runtime::MutexLock lock(mutex_);
  return bytes_;
}

void CatalogStore::UseLocked(Entry& entry) {
  const std::size_t before = bytes_;
  if (entry.candidates != nullptr && entry.candidates->base != nullptr) {
    const auto base = lists_.find(entry.candidates->base->key);
    if (base != lists_.end()) TouchLocked(base->second);
  }
  TouchLocked(entry);
  if (bytes_ > before) EvictLocked(entry);
}

void CatalogStore::TouchLocked(Entry& entry) {
  order_.splice(order_.end(), order_, entry.place);
  bytes_ -= entry.bytes;
  entry.bytes = BytesOf(entry);
  bytes_ += entry.bytes;
}

void CatalogStore::EvictLocked(const Entry& newest) {
  for (auto place = order_.begin(); bytes_ > max_bytes_ && place != newest.place;) {
    const auto oldest = lists_.find(*place);
    if (oldest->second.candidates.use_count() > 1) {
      ++place;
      continue;
    }
    bytes_ -= oldest->second.bytes;
    lists_.erase(oldest);
    place = order_.erase(place);
  }
}

}  // namespace shoal::inference
