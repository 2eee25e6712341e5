// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/content_table.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "platform/runtime/tensor.h"

namespace shoal::learner {
namespace {

using content::ContentKey;

absl::StatusOr<std::shared_ptr<const model::CandidateTable>> MakeTable(
    std::span<const ContentTable::Vector> vectors, std::span<const std::uint32_t> removed,
    std::shared_ptr<const model::CandidateTable> base, const ContentTableOptions& options) {
  runtime::Tensor embeddings(runtime::DType::kFloat16,
                             {static_cast<std::int64_t>(vectors.size()), options.embedding_size});
  std::byte* out = embeddings.mutable_bytes().data();
  const std::size_t row_bytes =
      static_cast<std::size_t>(options.embedding_size) * sizeof(std::uint16_t);
  for (const auto& vector : vectors) {
    std::memcpy(out, vector->data(), row_bytes);
    out += row_bytes;
  }
  return model::CandidateTable::Create(embeddings, removed, std::move(base),
                                       options.similarity_size);
}

}  // namespace

void ContentTable::AddEmbeddings(const proto::Embeddings& embeddings) {
  const auto keys = content::KeysFromBytes(embeddings.keys());
  const auto& vectors = embeddings.vectors();
  const std::size_t row_bytes =
      static_cast<std::size_t>(options_.embedding_size) * sizeof(std::uint16_t);
  const runtime::MutexLock lock(mutex_);
  if (!keys.ok() || vectors.dtype() != proto::FLOAT16 ||
      vectors.data().size() != keys->size() * row_bytes) {
    ++ignored_total_;
    return;
  }
  for (std::size_t i = 0; i < keys->size(); ++i) {
    auto vector = std::make_shared<std::vector<std::uint16_t>>(row_bytes / sizeof(std::uint16_t));
    std::memcpy(vector->data(), vectors.data().data() + i * row_bytes, row_bytes);
    AddOne({embeddings.encoder_version(), (*keys)[i]}, std::move(vector));
  }
}

void ContentTable::AddOne(Name name, Vector vector) {
  if (std::find(versions_.begin(), versions_.end(), name.first) == versions_.end()) {
    versions_.push_back(name.first);
  }
  const auto [found, added] = entries_.try_emplace(name);
  if (!added) return;
  found->second.vector = std::move(vector);
  found->second.candidate = candidates_.contains(name.second);
  if (found->second.candidate) return;
  recent_.push_front(std::move(name));
  found->second.position = recent_.begin();
  TrimContents();
}

void ContentTable::TrimContents() {
  while (recent_.size() > 1 && recent_.size() * content_bytes_ > third_) {
    forgotten_.push_back(recent_.back().second);
    entries_.erase(recent_.back());
    recent_.pop_back();
  }
}

std::vector<ContentKey> ContentTable::TakeForgotten() {
  const runtime::MutexLock lock(mutex_);
  return std::exchange(forgotten_, {});
}

void ContentTable::AddCatalog(const proto::Catalog& catalog) {
  const auto key = ContentKey::FromBytes(catalog.key());
  auto candidates = content::KeysFromBytes(catalog.candidate_keys());
  const runtime::MutexLock lock(mutex_);
  if (!key.ok() || !candidates.ok()) {
    ++ignored_total_;
    return;
  }
  AddList(*key, {std::move(*candidates), {}, std::nullopt});
}

void ContentTable::AddOverlay(const proto::Overlay& overlay) {
  const auto key = ContentKey::FromBytes(overlay.key());
  const auto base = ContentKey::FromBytes(overlay.base());
  auto appended = content::KeysFromBytes(overlay.appended_keys());
  const runtime::MutexLock lock(mutex_);
  const auto found = base.ok() ? lists_.find(*base) : lists_.end();
  if (!key.ok() || !appended.ok() || found == lists_.end() || found->second.base) {
    ++ignored_total_;
    return;
  }
  AddList(*key,
          {std::move(*appended), {overlay.removed().begin(), overlay.removed().end()}, *base});
}

void ContentTable::AddList(const ContentKey& key, List list) {
  const auto [found, added] = lists_.try_emplace(key, std::move(list));
  if (added) {
    for (const ContentKey& candidate : found->second.candidates) KeepCandidate(candidate);
    listed_ += 1 + found->second.candidates.size();
    found->second.place = recent_lists_.insert(recent_lists_.begin(), key);
  }
  TouchList(found->second);
  // The newest list and its base always stay.
  const std::size_t newest = found->second.base ? 2 : 1;
  while (listed_ * content_bytes_ > third_ && lists_.size() > newest) {
    RemoveList(recent_lists_.back());
  }
}

void ContentTable::TouchList(const List& list) {
  recent_lists_.splice(recent_lists_.begin(), recent_lists_, list.place);
  if (!list.base) return;
  const auto base = lists_.find(*list.base);
  if (base != lists_.end()) TouchList(base->second);
}

void ContentTable::RemoveList(ContentKey key) {
  const auto found = lists_.find(key);
  for (const ContentKey& candidate : found->second.candidates) LetCandidateGo(candidate);
  listed_ -= 1 + found->second.candidates.size();
  forgotten_.push_back(key);
  recent_lists_.erase(found->second.place);
  lists_.erase(found);
  TrimContents();
}

void ContentTable::KeepCandidate(const ContentKey& key) {
  if (candidates_[key]++ > 0) return;
  for (const std::string& version : versions_) {
    const auto found = entries_.find(Name(version, key));
    if (found == entries_.end() || found->second.candidate) continue;
    found->second.candidate = true;
    recent_.erase(found->second.position);
  }
}

void ContentTable::LetCandidateGo(const ContentKey& key) {
  const auto uses = candidates_.find(key);
  if (--uses->second > 0) return;
  candidates_.erase(uses);
  for (const std::string& version : versions_) {
    const auto found = entries_.find(Name(version, key));
    if (found == entries_.end()) continue;
    found->second.candidate = false;
    recent_.push_front(found->first);
    found->second.position = recent_.begin();
  }
}

ContentTable::Vector ContentTable::Find(std::string_view encoder_version, const ContentKey& key) {
  const runtime::MutexLock lock(mutex_);
  const auto found = entries_.find(Name(encoder_version, key));
  if (found == entries_.end()) return nullptr;
  if (!found->second.candidate) recent_.splice(recent_.begin(), recent_, found->second.position);
  return found->second.vector;
}

absl::StatusOr<std::vector<ContentTable::Vector>> ContentTable::Candidates(
    std::string_view encoder_version, const List& list) const {
  std::vector<Vector> vectors;
  vectors.reserve(list.candidates.size());
  Name name(encoder_version, ContentKey{});
  for (const ContentKey& key : list.candidates) {
    name.second = key;
    const auto found = entries_.find(name);
    if (found == entries_.end()) return runtime::NotFound("candidate " + key.ToHex());
    vectors.push_back(found->second.vector);
  }
  return vectors;
}

absl::StatusOr<std::shared_ptr<const model::CandidateTable>> ContentTable::Table(
    std::string_view encoder_version, const ContentKey& key) {
  const Name name(encoder_version, key);
  std::vector<Vector> vectors;
  std::vector<std::uint32_t> removed;
  std::optional<ContentKey> base_key;
  {
    const runtime::MutexLock lock(mutex_);
    const auto list = lists_.find(key);
    if (list != lists_.end()) TouchList(list->second);
    if (const TablePointer kept = KeptTable(name)) return kept;
    if (list == lists_.end()) return runtime::NotFound("catalog " + key.ToHex());
    auto candidates = Candidates(encoder_version, list->second);
    if (!candidates.ok()) {
      // The list is forgotten, so that the shard sends it again with all its candidates.
      RemoveList(key);
      return candidates.status();
    }
    vectors = *std::move(candidates);
    removed = list->second.removed;
    base_key = list->second.base;
  }
  TablePointer base;
  if (base_key) {
    SHOAL_ASSIGN_OR_RETURN(base, Table(encoder_version, *base_key));
  }
  SHOAL_ASSIGN_OR_RETURN(TablePointer table,
                         MakeTable(vectors, removed, std::move(base), options_));
  const runtime::MutexLock lock(mutex_);
  // Another caller may have made it meanwhile.
  if (const TablePointer kept = KeptTable(name)) return kept;
  tables_.emplace_front(name, table);
  table_places_[name] = tables_.begin();
  table_bytes_ += table->bytes();
  TrimTables();
  return table;
}

ContentTable::TablePointer ContentTable::KeptTable(const Name& name) {
  const auto place = table_places_.find(name);
  if (place == table_places_.end()) return nullptr;
  tables_.splice(tables_.begin(), tables_, place->second);
  return place->second->second;
}

void ContentTable::TrimTables() {
  // A table grows by what the model caches in it, so all are counted again now and then. There may
  // be many small ones: counting them costs a share of what making them did.
  constexpr std::size_t kCountEvery = 64;
  const std::size_t interval = std::max(kCountEvery, tables_.size() / 32);
  if (++tables_since_count_ < interval && table_bytes_ <= third_) return;
  tables_since_count_ = 0;
  table_bytes_ = 0;
  for (const auto& [name, table] : tables_) table_bytes_ += table->bytes();
  if (table_bytes_ <= third_) return;
  // Some room is left, or the next table would have them all counted again.
  const std::size_t target = third_ - third_ / 8;
  while (tables_.size() > 1 && table_bytes_ > target) {
    table_bytes_ -= tables_.back().second->bytes();
    table_places_.erase(tables_.back().first);
    tables_.pop_back();
  }
}

std::size_t ContentTable::size() const {
  const runtime::MutexLock lock(mutex_);
  return entries_.size();
}

std::size_t ContentTable::lists() const {
  const runtime::MutexLock lock(mutex_);
  return lists_.size();
}

std::uint64_t ContentTable::ignored_total() const {
  const runtime::MutexLock lock(mutex_);
  return ignored_total_;
}

}  // namespace shoal::learner
