// SPDX-License-Identifier: Apache-2.0
#include "replay/content_store.h"

#include <algorithm>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::replay {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// The object with its reference counts, its slot in a hash table that may be less than half full,
// its place in the list of unused contents, and what the allocator adds to each.
constexpr std::size_t kBookkeepingBytes = 384;
// The share of memory that is kept free for what comes while chunks are written, and the most of
// it.
constexpr std::size_t kFreeShare = 8;
constexpr std::size_t kMostFreeBytes = std::size_t{16} << 20;

template <typename Body>
const Body* As(const Content& content) {
  return std::get_if<Body>(&content.body);
}

// Of a chunk whose data is in memory.
std::size_t DataBytes(const Content& content) { return As<Chunk>(content)->data.size(); }

}  // namespace

std::size_t Content::bytes() const {
  return kBookkeepingBytes +
         std::visit(
             Overloaded{
                 [](const Embedding& embedding) {
                   return embedding.vector.size() + embedding.encoder_version.size();
                 },
                 [](const Catalog& catalog) { return catalog.candidates.size() * sizeof(Key); },
                 [](const Overlay& overlay) {
                   return overlay.removed.size() * sizeof(std::uint32_t) +
                          overlay.appended.size() * sizeof(Key);
                 },
                 [](const Chunk& chunk) { return chunk.data.size() + chunk.spilled_bytes; }},
             body);
}

bool Content::spilled() const {
  const auto* chunk = As<Chunk>(*this);
  return chunk != nullptr && chunk->spilled_bytes > 0;
}

absl::Status ContentStore::Add(std::uint64_t number, Content&& content) {
  if (content.key.IsZero()) return runtime::InvalidArgument("a content has the key of no content");
  if (const auto found = entries_.find(content.key); found != entries_.end()) {
    return Touch(found->second, std::move(content));
  }
  SHOAL_RETURN_IF_ERROR(CheckUses(content));
  const std::size_t bytes = content.bytes();
  UseParts(content);
  if (number == 0) Trim(bytes, bytes);
  if (number == 0 && bytes_ + bytes > options_.capacity_bytes) {
    UnuseParts(content);
    return Refuse(content);
  }
  if (number == 0 && ExceedsMemory(bytes)) {
    UnuseParts(content);
    return RefuseForMemory(content);
  }
  const Key key = content.key;
  Entry& entry = entries_[key];
  entry.content = std::make_shared<const Content>(std::move(content));
  entry.number = number > 0 ? number : last_number_ + 1;
  last_number_ = std::max(last_number_, entry.number);
  const bool tells = number == 0 && hooks_ != nullptr && tell_ == Tell::kOfAll;
  const std::uint64_t position = tells ? hooks_->OnPut(entry.number, entry.content) : 0;
  bytes_ += bytes;
  if (As<Chunk>(*entry.content) != nullptr) {
    ++chunks_;
    chunk_bytes_ += bytes;
    if (bounds_memory()) PlaceData(entry, tells || number > 0, position);
  }
  AddUnused(entry);
  refused_bytes_ = 0;
  lacks_ = Lack::kNothing;
  if (number > 0) {
    DropWritten(0);
  } else {
    SpillSome();
  }
  return absl::OkStatus();
}

std::size_t ContentStore::MemoryGoal() const {
  const std::size_t free =
      std::max(refused_bytes_, std::min(options_.memory_bytes / kFreeShare, kMostFreeBytes));
  return options_.memory_bytes - free;
}

void ContentStore::PlaceData(Entry& entry, bool told, std::uint64_t position) {
  std::list<Key>& line = told ? writing_ : in_memory_;
  entry.data = told ? Place::kWriting : Place::kMemory;
  entry.written_at = position;
  entry.data_place = line.insert(line.end(), entry.content->key);
  if (told) writing_bytes_ += DataBytes(*entry.content);
}

void ContentStore::RemoveData(const Entry& entry) {
  if (entry.data == Place::kMemory) in_memory_.erase(entry.data_place);
  if (entry.data == Place::kWriting) {
    writing_.erase(entry.data_place);
    writing_bytes_ -= DataBytes(*entry.content);
  }
  // It is 0 where the data is in memory.
  disk_bytes_ -= As<Chunk>(*entry.content)->spilled_bytes;
}

void ContentStore::SpillSome() {
  if (!bounds_memory() || hooks_ == nullptr) return;
  while (!in_memory_.empty() && in_memory_bytes() - writing_bytes_ > MemoryGoal()) {
    Entry& entry = entries_.at(in_memory_.front());
    entry.data = Place::kWriting;
    entry.written_at = hooks_->OnPut(entry.number, entry.content);
    writing_.splice(writing_.end(), in_memory_, entry.data_place);
    writing_bytes_ += DataBytes(*entry.content);
  }
}

std::vector<std::shared_ptr<const Content>> ContentStore::DropWritten(std::uint64_t durable) {
  std::vector<std::shared_ptr<const Content>> dropped;
  if (!bounds_memory()) return dropped;
  while (!writing_.empty() && in_memory_bytes() > MemoryGoal()) {
    Entry& entry = entries_.at(writing_.front());
    if (entry.written_at > durable) break;
    const std::size_t data_bytes = DataBytes(*entry.content);
    writing_.pop_front();
    writing_bytes_ -= data_bytes;
    dropped.push_back(std::exchange(
        entry.content, std::make_shared<const Content>(Content{
                           .key = entry.content->key,
                           .body = Chunk{.data = {},
                                         .spilled_bytes = static_cast<std::uint32_t>(data_bytes),
                                         .number = entry.number}})));
    entry.data = Place::kDisk;
    disk_bytes_ += data_bytes;
  }
  // With no chunk left in memory the disk can make no more room, so that the next content is tried.
  const bool done = !ExceedsMemory(refused_bytes_) || (in_memory_.empty() && writing_.empty());
  if (waits_for_disk() && done) lacks_ = Lack::kNothing;
  return dropped;
}

void ContentStore::Lose(const Content& chunk) {
  const auto found = entries_.find(chunk.key);
  if (found == entries_.end() || found->second.data != Place::kDisk) return;
  if (found->second.number == As<Chunk>(chunk)->number) found->second.data = Place::kLost;
}

absl::Status ContentStore::Recover(Entry& entry, Content&& content) {
  const std::size_t bytes = DataBytes(content);
  if (bytes != As<Chunk>(*entry.content)->spilled_bytes) {
    return runtime::InvalidArgument("chunk " + content.key.ToHex() + " has " +
                                    std::to_string(bytes) + " bytes, and was there with others");
  }
  const Key key = content.key;
  Use(key);
  Trim(0, bytes);
  Unuse(key);
  if (ExceedsMemory(bytes)) return RefuseForMemory(content);
  // What reads the damaged record still must not lose this one.
  hooks_->OnEvict(entry.number);
  entry.number = ++last_number_;
  entry.content = std::make_shared<const Content>(std::move(content));
  disk_bytes_ -= bytes;
  const bool tells = tell_ == Tell::kOfAll;
  PlaceData(entry, tells, tells ? hooks_->OnPut(entry.number, entry.content) : 0);
  refused_bytes_ = 0;
  lacks_ = Lack::kNothing;
  SpillSome();
  return absl::OkStatus();
}

absl::Status ContentStore::RefuseForMemory(const Content& content) {
  const std::string memory = std::to_string(options_.memory_bytes) + " bytes of memory";
  if (content.bytes() > options_.memory_bytes) {
    return runtime::InvalidArgument("content " + content.key.ToHex() + " does not fit into " +
                                    memory);
  }
  lacks_ = in_memory_.empty() && writing_.empty() ? Lack::kUse : Lack::kDisk;
  refused_bytes_ = content.bytes();
  SpillSome();
  return runtime::ResourceExhausted("contents fill " + std::to_string(in_memory_bytes()) + " of " +
                                    memory);
}

absl::Status ContentStore::Refuse(const Content& content) {
  const std::string capacity = std::to_string(options_.capacity_bytes) + " bytes of contents";
  if (bytes_ == unused_bytes_) {
    return runtime::InvalidArgument("content " + content.key.ToHex() +
                                    " and what it names do not fit into " + capacity);
  }
  lacks_ = Lack::kUse;
  return runtime::ResourceExhausted("contents in use fill " +
                                    std::to_string(bytes_ - unused_bytes_) + " of " + capacity);
}

absl::Status ContentStore::Touch(Entry& entry, Content&& content) {
  if (content.body.index() != entry.content->body.index()) {
    return runtime::InvalidArgument("content " + content.key.ToHex() + " is there as another kind");
  }
  if (entry.uses == 0) {
    std::list<Key>& line = Line(*entry.content);
    line.splice(line.end(), line, entry.place);
  }
  if (entry.data == Place::kLost) return Recover(entry, std::move(content));
  const auto* fresh = As<Embedding>(content);
  if (fresh == nullptr ||
      fresh->encoder_version == As<Embedding>(*entry.content)->encoder_version) {
    return absl::OkStatus();
  }
  return Replace(entry, std::move(content));
}

absl::Status ContentStore::Replace(Entry& entry, Content&& content) {
  const std::size_t before = entry.content->bytes();
  const std::size_t after = content.bytes();
  const Key key = content.key;
  Use(key);
  const std::size_t growth = after - std::min(before, after);
  Trim(growth, growth);
  const std::size_t grown = after - std::min(before, after);
  const bool fits_memory = !ExceedsMemory(grown);
  const bool fits = fits_memory && bytes_ - before + after <= options_.capacity_bytes;
  if (fits) {
    bytes_ = bytes_ - before + after;
    entry.content = std::make_shared<const Content>(std::move(content));
    entry.given = 0;
    ++replacements_;
    if (hooks_ != nullptr && tell_ == Tell::kOfAll) hooks_->OnPut(entry.number, entry.content);
  }
  Unuse(key);
  if (fits) return absl::OkStatus();
  return fits_memory ? Refuse(content) : RefuseForMemory(content);
}

absl::Status ContentStore::CheckUses(const Content& content) const {
  const auto check = [this, &content](const std::vector<Key>& keys) -> absl::Status {
    for (const Key& key : keys) {
      if (key.IsZero()) continue;
      const auto found = entries_.find(key);
      if (found == entries_.end() || As<Embedding>(*found->second.content) == nullptr) {
        return runtime::NotFound("candidate " + key.ToHex() + " of " + content.key.ToHex());
      }
    }
    return absl::OkStatus();
  };
  if (const auto* catalog = As<Catalog>(content)) return check(catalog->candidates);
  const auto* overlay = As<Overlay>(content);
  if (overlay == nullptr) return absl::OkStatus();
  const auto base = entries_.find(overlay->base);
  if (base == entries_.end()) return runtime::NotFound("catalog " + overlay->base.ToHex());
  const auto* catalog = As<Catalog>(*base->second.content);
  if (catalog == nullptr) {
    return runtime::InvalidArgument("overlay " + content.key.ToHex() +
                                    " has a base that is no catalog");
  }
  if (!overlay->removed.empty() && overlay->removed.back() >= catalog->candidates.size()) {
    return runtime::InvalidArgument("overlay " + content.key.ToHex() + " removes candidate " +
                                    std::to_string(overlay->removed.back()) + " of " +
                                    std::to_string(catalog->candidates.size()));
  }
  return check(overlay->appended);
}

template <typename Visit>
void ContentStore::ForEachKey(const Item& item, Visit visit) {
  if (item.keys == nullptr) return;
  for (const Key& key : item.keys->contents) visit(key, Kind::kEmbedding);
  for (const Key& key : item.keys->catalogs) visit(key, Kind::kList);
  for (const Key& key : item.keys->chunks) visit(key, Kind::kChunk);
}

bool ContentStore::Has(const Key& key, Kind kind) const {
  if (key.IsZero()) return true;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  if (found->second.data == Place::kLost) return false;
  const Content& content = *found->second.content;
  if (As<Embedding>(content) != nullptr) return kind == Kind::kEmbedding;
  return kind == (As<Chunk>(content) != nullptr ? Kind::kChunk : Kind::kList);
}

absl::Status ContentStore::Acquire(const Item& item) {
  absl::Status status;
  ForEachKey(item, [&](const Key& key, Kind kind) {
    if (!status.ok() || Has(key, kind)) return;
    const char* const name = kind == Kind::kEmbedding ? "content "
                             : kind == Kind::kList    ? "catalog "
                                                      : "chunk ";
    status = runtime::NotFound(name + key.ToHex());
  });
  if (!status.ok()) return status;
  ForEachKey(item, [this](const Key& key, Kind) { Use(key); });
  return absl::OkStatus();
}

std::vector<Key> ContentStore::Missing(const Item& item) const {
  std::vector<Key> missing;
  ForEachKey(item, [&](const Key& key, Kind kind) {
    if (!Has(key, kind)) missing.push_back(key);
  });
  return missing;
}

void ContentStore::Release(const Item& item) {
  ForEachKey(item, [this](const Key& key, Kind) { Unuse(key); });
  Trim(0, 0);
}

void ContentStore::Use(const Key& key) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  if (entry.uses++ == 0) RemoveUnused(entry);
}

void ContentStore::Unuse(const Key& key) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  SHOAL_CHECK(entry.uses > 0);
  if (--entry.uses > 0) return;
  if (lacks_ == Lack::kUse) lacks_ = Lack::kNothing;
  AddUnused(entry);
}

std::list<Key>& ContentStore::Line(const Content& content) {
  return As<Chunk>(content) != nullptr ? unused_chunks_ : unused_;
}

void ContentStore::AddUnused(Entry& entry) {
  const std::size_t bytes = entry.content->bytes();
  std::list<Key>& line = Line(*entry.content);
  entry.place = line.insert(line.end(), entry.content->key);
  unused_bytes_ += bytes;
  if (&line == &unused_chunks_) unused_chunk_bytes_ += bytes;
}

void ContentStore::RemoveUnused(Entry& entry) {
  const std::size_t bytes = entry.content->bytes();
  std::list<Key>& line = Line(*entry.content);
  line.erase(entry.place);
  unused_bytes_ -= bytes;
  if (&line == &unused_chunks_) unused_chunk_bytes_ -= bytes;
}

void ContentStore::UseParts(const Content& content) {
  if (const auto* catalog = As<Catalog>(content)) {
    for (const Key& key : catalog->candidates) Use(key);
  } else if (const auto* overlay = As<Overlay>(content)) {
    Use(overlay->base);
    for (const Key& key : overlay->appended) Use(key);
  }
}

void ContentStore::UnuseParts(const Content& content) {
  if (const auto* catalog = As<Catalog>(content)) {
    for (const Key& key : catalog->candidates) Unuse(key);
  } else if (const auto* overlay = As<Overlay>(content)) {
    Unuse(overlay->base);
    for (const Key& key : overlay->appended) Unuse(key);
  }
}

void ContentStore::Erase(Key key) {
  const auto found = entries_.find(key);
  RemoveUnused(found->second);
  const bool told = tell_ == Tell::kOfAll || found->second.data != Place::kMemory;
  if (hooks_ != nullptr && told) hooks_->OnEvict(found->second.number);
  const Entry gone = std::move(found->second);
  const std::shared_ptr<const Content>& content = gone.content;
  entries_.erase(found);
  bytes_ -= content->bytes();
  if (As<Chunk>(*content) != nullptr) {
    --chunks_;
    chunk_bytes_ -= content->bytes();
    if (bounds_memory()) RemoveData(gone);
  }
  UnuseParts(*content);
}

void ContentStore::Trim(std::size_t added_bytes, std::size_t memory_bytes) {
  const auto too_many = [&] { return bytes_ + added_bytes > options_.capacity_bytes; };
  // Chunks make room in memory by leaving it for the disk, as long as there are any.
  const auto too_large = [&] {
    return in_memory_.empty() && writing_.empty() && ExceedsMemory(memory_bytes);
  };
  const std::size_t most_unused_chunks =
      std::min(options_.unused_capacity_bytes / 4,
               bounds_memory() ? options_.memory_bytes / 2 : options_.capacity_bytes);
  while (!unused_chunks_.empty() &&
         (unused_chunk_bytes_ > most_unused_chunks || too_many() || too_large())) {
    Erase(unused_chunks_.front());
  }
  while (!unused_.empty() &&
         (unused_bytes_ > options_.unused_capacity_bytes || too_many() || too_large())) {
    Erase(unused_.front());
  }
}

absl::StatusOr<int> ContentStore::OpenReader() {
  const int reader = std::countr_one(readers_);
  if (reader == 64) return runtime::ResourceExhausted("64 sampling streams are open already");
  const std::uint64_t bit = std::uint64_t{1} << reader;
  readers_ |= bit;
  for (auto& [key, entry] : entries_) entry.given &= ~bit;
  return reader;
}

void ContentStore::CloseReader(int reader) { readers_ &= ~(std::uint64_t{1} << reader); }

void ContentStore::Collect(const Item& item, int reader,
                           std::vector<std::shared_ptr<const Content>>& out) {
  const std::uint64_t bit = std::uint64_t{1} << reader;
  ForEachKey(item, [&](const Key& key, Kind) { CollectKey(key, bit, out); });
}

void ContentStore::Forget(int reader, const Key& key) {
  const std::uint64_t bit = std::uint64_t{1} << reader;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.given &= ~bit;
  if (const auto* catalog = As<Catalog>(*found->second.content)) {
    for (const Key& candidate : catalog->candidates) Forget(reader, candidate);
  } else if (const auto* overlay = As<Overlay>(*found->second.content)) {
    for (const Key& candidate : overlay->appended) Forget(reader, candidate);
  }
}

// Returns false when the reader has it already.
bool ContentStore::MarkGiven(Entry& entry, std::uint64_t bit) const {
  const bool is_list =
      As<Catalog>(*entry.content) != nullptr || As<Overlay>(*entry.content) != nullptr;
  if (is_list && entry.given_at != replacements_) {
    entry.given = 0;
    entry.given_at = replacements_;
  }
  if ((entry.given & bit) != 0) return false;
  entry.given |= bit;
  return true;
}

void ContentStore::CollectKey(const Key& key, std::uint64_t bit,
                              std::vector<std::shared_ptr<const Content>>& out) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  if (!MarkGiven(entry, bit)) return;
  if (const auto* catalog = As<Catalog>(*entry.content)) {
    for (const Key& candidate : catalog->candidates) CollectKey(candidate, bit, out);
  } else if (const auto* overlay = As<Overlay>(*entry.content)) {
    CollectKey(overlay->base, bit, out);
    for (const Key& candidate : overlay->appended) CollectKey(candidate, bit, out);
  }
  out.push_back(entry.content);
}

}  // namespace shoal::replay
