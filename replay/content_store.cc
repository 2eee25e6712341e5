// SPDX-License-Identifier: Apache-2.0
#include "replay/content_store.h"

#include <algorithm>

#include "platform/runtime/check.h"

namespace shoal::replay {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

constexpr std::size_t kEntryOverhead = 128;

template <typename Body>
const Body* As(const Content& content) {
  return std::get_if<Body>(&content.body);
}

}  // namespace

std::size_t Content::bytes() const {
  return kEntryOverhead +
         std::visit(
             Overloaded{
                 [](const Embedding& embedding) {
                   return embedding.vector.size() + embedding.encoder_version.size();
                 },
                 [](const Catalog& catalog) { return catalog.candidates.size() * sizeof(Key); },
                 [](const Overlay& overlay) {
                   return overlay.removed.size() * 4 + overlay.appended.size() * sizeof(Key);
                 }},
             body);
}

absl::Status ContentStore::Put(Content content) {
  if (content.key.IsZero()) return runtime::InvalidArgument("a content has the key of no content");
  if (const auto found = entries_.find(content.key); found != entries_.end()) {
    return Replace(found->second, std::move(content));
  }
  SHOAL_RETURN_IF_ERROR(CheckUses(content));
  const std::size_t bytes = content.bytes();
  UseParts(content);
  Trim(bytes);
  if (bytes_ + bytes > options_.capacity_bytes) {
    UnuseParts(content);
    return Full();
  }
  const Key key = content.key;
  const bool stays = As<Catalog>(content) != nullptr;
  if (stays) catalogs_.push_back(key);
  Entry& entry = entries_[key];
  entry.content = std::make_shared<const Content>(std::move(content));
  bytes_ += bytes;
  if (stays) {
    entry.uses = 1;
  } else {
    entry.place = unused_.insert(unused_.end(), key);
    unused_bytes_ += bytes;
  }
  return absl::OkStatus();
}

absl::Status ContentStore::Full() const {
  return runtime::ResourceExhausted("contents in use fill " + std::to_string(bytes_) + " of " +
                                    std::to_string(options_.capacity_bytes) + " bytes");
}

absl::Status ContentStore::Replace(Entry& entry, Content content) {
  if (content.body.index() != entry.content->body.index()) {
    return runtime::InvalidArgument("content " + content.key.ToHex() + " is there as another kind");
  }
  if (entry.uses == 0) unused_.splice(unused_.end(), unused_, entry.place);
  const auto* fresh = As<Embedding>(content);
  if (fresh == nullptr) return absl::OkStatus();
  if (fresh->encoder_version == As<Embedding>(*entry.content)->encoder_version) {
    return absl::OkStatus();
  }
  const std::size_t before = entry.content->bytes();
  const std::size_t after = content.bytes();
  const Key key = content.key;
  Use(key);
  Trim(after - std::min(before, after));
  const bool fits = bytes_ - before + after <= options_.capacity_bytes;
  if (fits) {
    bytes_ = bytes_ - before + after;
    entry.content = std::make_shared<const Content>(std::move(content));
  }
  Unuse(key);
  if (!fits) return Full();
  entry.given = 0;
  for (const Key& catalog : catalogs_) entries_.at(catalog).given = 0;
  for (auto& [key, other] : entries_) {
    if (As<Overlay>(*other.content) != nullptr) other.given = 0;
  }
  return absl::OkStatus();
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

absl::Status ContentStore::Acquire(const Item& item) {
  for (const auto* keys : {&item.content_keys, &item.catalog_keys}) {
    for (const Key& key : *keys) {
      if (key.IsZero()) continue;
      const auto found = entries_.find(key);
      const bool is_embedding =
          found != entries_.end() && As<Embedding>(*found->second.content) != nullptr;
      if (found == entries_.end() || is_embedding != (keys == &item.content_keys)) {
        return runtime::NotFound((keys == &item.content_keys ? "content " : "catalog ") +
                                 key.ToHex());
      }
    }
  }
  for (const Key& key : item.content_keys) Use(key);
  for (const Key& key : item.catalog_keys) Use(key);
  return absl::OkStatus();
}

void ContentStore::Release(const Item& item) {
  for (const Key& key : item.content_keys) Unuse(key);
  for (const Key& key : item.catalog_keys) Unuse(key);
  Trim(0);
}

void ContentStore::Use(const Key& key) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  if (entry.uses++ > 0) return;
  unused_.erase(entry.place);
  unused_bytes_ -= entry.content->bytes();
}

void ContentStore::Unuse(const Key& key) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  SHOAL_CHECK(entry.uses > 0);
  if (--entry.uses > 0) return;
  entry.place = unused_.insert(unused_.end(), key);
  unused_bytes_ += entry.content->bytes();
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

void ContentStore::Trim(std::size_t incoming_bytes) {
  while (!unused_.empty() && (unused_bytes_ > options_.unused_capacity_bytes ||
                              bytes_ + incoming_bytes > options_.capacity_bytes)) {
    const auto found = entries_.find(unused_.front());
    const std::shared_ptr<const Content> content = std::move(found->second.content);
    unused_.pop_front();
    entries_.erase(found);
    bytes_ -= content->bytes();
    unused_bytes_ -= content->bytes();
    UnuseParts(*content);
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
  for (const Key& key : item.content_keys) CollectKey(key, bit, out);
  for (const Key& key : item.catalog_keys) CollectKey(key, bit, out);
}

void ContentStore::CollectKey(const Key& key, std::uint64_t bit,
                              std::vector<std::shared_ptr<const Content>>& out) {
  if (key.IsZero()) return;
  Entry& entry = entries_.at(key);
  if ((entry.given & bit) != 0) return;
  entry.given |= bit;
  if (const auto* catalog = As<Catalog>(*entry.content)) {
    for (const Key& candidate : catalog->candidates) CollectKey(candidate, bit, out);
  } else if (const auto* overlay = As<Overlay>(*entry.content)) {
    CollectKey(overlay->base, bit, out);
    for (const Key& candidate : overlay->appended) CollectKey(candidate, bit, out);
  }
  out.push_back(entry.content);
}

}  // namespace shoal::replay
