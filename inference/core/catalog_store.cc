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

// Of an entry, its nodes in the map and in the order.
constexpr std::size_t kEntryOverhead = 256;

std::size_t BytesOf(const CandidateList& list) {
  return kEntryOverhead + list.removed.size() * sizeof(std::uint32_t) +
         list.candidates.size() * sizeof(content::ContentKey);
}

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
  if (!added) {
    TouchLocked(entry);
    return absl::OkStatus();
  }
  entry.place = order_.insert(order_.end(), list.key);
  entry.list = std::move(list);
  GrowLocked(entry, BytesOf(entry.list));
  return absl::OkStatus();
}

absl::StatusOr<CatalogStore::Resolution> CatalogStore::Resolve(const content::ContentKey& key) {
  CandidateList list;
  {
    const runtime::MutexLock lock(mutex_);
    const auto found = lists_.find(key);
    if (found == lists_.end()) return Resolution{.missing_list = key};
    TouchLocked(found->second);
    if (found->second.candidates) return Resolution{.candidates = found->second.candidates};
    list = found->second.list;
  }
  SHOAL_ASSIGN_OR_RETURN(Resolution made, list.base ? ResolveOverlay(list) : Make(list, nullptr));
  if (!made.candidates) return made;
  const runtime::MutexLock lock(mutex_);
  const auto found = lists_.find(key);
  if (found == lists_.end()) return made;
  if (!found->second.candidates) {
    found->second.candidates = made.candidates;
    GrowLocked(found->second, TableBytes(made.candidates->embeddings.size()));
  }
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

std::size_t CatalogStore::TableBytes(std::size_t candidates) const {
  return candidates *
         (sizeof(embedding::Embedding) + contents_.embedding_size() * sizeof(std::uint16_t));
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

void CatalogStore::TouchLocked(Entry& entry) { order_.splice(order_.end(), order_, entry.place); }

// Makes room for it among the others.
void CatalogStore::GrowLocked(Entry& entry, std::size_t bytes) {
  TouchLocked(entry);
  entry.bytes += bytes;
  bytes_ += bytes;
  for (auto place = order_.begin(); bytes_ > max_bytes_ && place != entry.place;) {
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
