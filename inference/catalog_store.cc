// SPDX-License-Identifier: Apache-2.0
#include "inference/catalog_store.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

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
  std::string bytes(list.base->AsBytes());
  for (const std::uint32_t index : list.removed) {
    char encoded[4];
    std::memcpy(encoded, &index, sizeof encoded);
    bytes.append(encoded, sizeof encoded);
  }
  for (const content::ContentKey& key : list.candidates) bytes += key.AsBytes();
  return content::KeyOf(bytes);
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
  std::optional<CandidateList> base;
  {
    const runtime::MutexLock lock(mutex_);
    const auto found = lists_.find(key);
    if (found == lists_.end()) return Resolution{.missing_list = key};
    TouchLocked(found->second);
    const auto parent = found->second.list.base ? lists_.find(*found->second.list.base) : found;
    if (parent != lists_.end()) TouchLocked(parent->second);
    if (found->second.candidates) return Resolution{.candidates = found->second.candidates};
    list = found->second.list;
    if (parent == lists_.end()) return Resolution{.missing_list = list.base};
    if (list.base) base = parent->second.list;
  }
  if (base && base->base) {
    return runtime::InvalidArgument("overlay " + key.ToHex() + " has an overlay as its base");
  }
  SHOAL_ASSIGN_OR_RETURN(Resolution made, Make(list, base ? &*base : nullptr));
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

absl::StatusOr<CatalogStore::Resolution> CatalogStore::Make(const CandidateList& list,
                                                            const CandidateList* base) {
  std::vector<content::ContentKey> keys;
  if (base != nullptr) keys = base->candidates;
  for (const std::uint32_t index : list.removed) {
    if (index >= keys.size()) {
      return runtime::InvalidArgument("overlay " + list.key.ToHex() + " removes candidate " +
                                      std::to_string(index) + " of " + std::to_string(keys.size()));
    }
  }
  keys.insert(keys.end(), list.candidates.begin(), list.candidates.end());
  Resolution resolution;
  auto candidates = std::make_shared<Candidates>();
  candidates->embeddings.reserve(keys.size());
  for (const content::ContentKey& key : keys) {
    Embedding embedding = contents_.Find(key);
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
  SHOAL_ASSIGN_OR_RETURN(candidates->table, factory_(embeddings, list.removed));
  candidates->key = list.key;
  candidates->base = list.base;
  candidates->count = static_cast<std::int64_t>(keys.size());
  resolution.candidates = std::move(candidates);
  return resolution;
}

std::size_t CatalogStore::TableBytes(std::size_t candidates) const {
  return candidates * (sizeof(Embedding) + contents_.embedding_size() * sizeof(std::uint16_t));
}

std::optional<CandidateList> CatalogStore::Find(const content::ContentKey& key) const {
  const runtime::MutexLock lock(mutex_);
  const auto found = lists_.find(key);
  if (found == lists_.end()) return std::nullopt;
  return found->second.list;
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
