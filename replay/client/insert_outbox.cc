// SPDX-License-Identifier: Apache-2.0
#include "replay/client/insert_outbox.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::replay::client {
namespace {

// An item is dropped after this many consecutive answers that a content is unknown, though it was
// sent.
constexpr int kMaxMisses = 8;
constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
// The number of vectors that are requested first, before their size is known.
constexpr std::size_t kFirstStep = 32;
constexpr std::size_t kMaxKnown = std::size_t{1} << 17;

bool Same(const proto::UnrollId& a, const proto::UnrollId& b) {
  return a.environment_id() == b.environment_id() && a.incarnation() == b.incarnation() &&
         a.first_sequence() == b.first_sequence();
}

std::size_t BytesOf(const Chunks& chunks) {
  std::size_t bytes = 0;
  for (const auto& chunk : chunks) bytes += chunk->data().size();
  return bytes;
}

std::vector<std::string> Split(std::string_view keys) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at + content::ContentKey::kBytes <= keys.size();
       at += content::ContentKey::kBytes) {
    out.emplace_back(keys.substr(at, content::ContentKey::kBytes));
  }
  return out;
}

}  // namespace

std::size_t BytesOf(const ChunkedItem& item) {
  return item.item.payload().size() + BytesOf(item.chunks);
}

std::size_t InsertOutbox::Entry::bytes() const { return BytesOf(whole) + payload.size(); }

void InsertOutbox::Add(ChunkedItem&& item, PlacedPayload payload) {
  Entry entry{.whole = std::move(item), .payload = std::move(payload)};
  if (entry.whole.item.payload().size() >= kReferencedBytes) {
    entry.payload = Place(std::unique_ptr<const std::string>(entry.whole.item.release_payload()));
  }
  entries_.push_back(std::move(entry));
}

void InsertOutbox::Handle(const proto::InsertReply& reply, OutboxOutcome& outcome) {
  credit_ = reply.credit();
  for (const proto::ItemStatus& status : reply.items()) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&status](const Entry& entry) {
          return entry.sent && Same(entry.whole.item.id(), status.id());
        });
    if (found == entries_.end()) continue;
    --unanswered_;
    found->sent = false;
    const auto code = static_cast<absl::StatusCode>(status.code());
    for (const std::string& bytes : status.missing_keys()) Forget(bytes);
    if (code == absl::StatusCode::kResourceExhausted) {
      found->misses = 0;
      continue;
    }
    if (code == absl::StatusCode::kNotFound && ++found->misses < kMaxMisses) continue;
    if (code == absl::StatusCode::kOk) {
      ++outcome.acknowledged;
    } else {
      ++(code == absl::StatusCode::kNotFound ? outcome.without_content : outcome.refused);
      if (refusal_ != status.message()) {
        refusal_ = status.message();
        spdlog::error("event=item_refused code={} reason={}", status.code(),
                      runtime::Quoted(refusal_));
      }
    }
    outcome.bytes += found->bytes();
    entries_.erase(found);
  }
}

void InsertOutbox::Disconnected() {
  for (Entry& entry : entries_) entry.sent = false;
  unanswered_ = 0;
  credit_ = 0;
  known_.clear();
  stated_.clear();
  refusal_.clear();
  known_chunks_.clear();
}

std::size_t InsertOutbox::DropAll(std::size_t& bytes) {
  for (const Entry& entry : entries_) bytes += entry.bytes();
  const std::size_t count = entries_.size();
  entries_.clear();
  unanswered_ = 0;
  return count;
}

std::vector<Outgoing<proto::InsertRequest>> InsertOutbox::SendNext(std::size_t most,
                                                                   OutboxOutcome& outcome,
                                                                   BlockRing* ring) {
  Messages messages;
  const auto is_unsent = [](const Entry& entry) { return !entry.sent; };
  auto next = std::find_if(entries_.begin(), entries_.end(), is_unsent);
  std::size_t bytes = 0;
  for (std::size_t items = 0; items < most && MaySend() && next != entries_.end(); ++items) {
    const Chunks chunks = Unsent(next->whole);
    const std::size_t size = next->bytes() - BytesOf(next->whole.chunks) + BytesOf(chunks);
    if (items > 0 && bytes + size > kMessageBytes) break;
    const std::size_t before = messages.size();
    const absl::Status status = AddContents(next->whole.item, messages);
    if (!status.ok()) {
      spdlog::warn("event=item_dropped reason={}", runtime::Quoted(status.ToString()));
      ++outcome.without_content;
      outcome.bytes += next->bytes();
      next = std::find_if(entries_.erase(next), entries_.end(), is_unsent);
      continue;
    }
    const bool brought_contents = messages.size() > before;
    if (messages.empty()) messages.emplace_back();
    const std::string& signature = next->whole.item.signature();
    if (!signature.empty() && stated_.insert(signature).second) {
      messages.back().message.add_signatures(signatures_.at(signature));
    }
    AddChunks(chunks, messages);
    AddItem(*next, ring, messages, outcome);
    bytes += size;
    next->sent = true;
    if (std::exchange(next->sent_before, true)) ++resent_total_;
    ++unanswered_;
    // The caller bounds what waits to be sent between two calls.
    if (brought_contents) break;
    next = std::find_if(next, entries_.end(), is_unsent);
  }
  return messages;
}

void InsertOutbox::Forget(const std::string& bytes) {
  if (known_chunks_.erase(bytes) > 0) return;
  const auto key = content::ContentKey::FromBytes(bytes);
  if (!key.ok() || known_.erase(*key) == 0) return;
  const auto list = provider_.FindCatalog(bytes);
  if (!list.ok()) return;
  if (const auto* catalog = std::get_if<proto::Catalog>(&*list)) {
    for (const std::string& candidate : Split(catalog->candidate_keys())) Forget(candidate);
  } else {
    const auto& overlay = std::get<proto::Overlay>(*list);
    Forget(overlay.base());
    for (const std::string& candidate : Split(overlay.appended_keys())) Forget(candidate);
  }
}

absl::Status InsertOutbox::AddContents(const proto::Item& item, Messages& out) {
  if (known_.size() > kMaxKnown) known_.clear();
  SHOAL_RETURN_IF_ERROR(
      AddEmbeddings(Keys(item.content_keys().begin(), item.content_keys().end()), out));
  for (const std::string& key : item.catalog_keys()) {
    SHOAL_RETURN_IF_ERROR(AddCatalog(key, out));
  }
  return absl::OkStatus();
}

absl::Status InsertOutbox::AddEmbeddings(Keys keys, Messages& out) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<content::ContentKey> parsed;
  Keys missing;
  for (std::string& bytes : keys) {
    SHOAL_ASSIGN_OR_RETURN(const content::ContentKey key, content::ContentKey::FromBytes(bytes));
    if (key.IsZero() || known_.contains(key)) continue;
    parsed.push_back(key);
    missing.push_back(std::move(bytes));
  }
  const std::span<const std::string> wanted(missing);
  std::size_t step = kFirstStep;
  for (std::size_t at = 0; at < wanted.size();) {
    const std::size_t count = std::min(step, wanted.size() - at);
    SHOAL_ASSIGN_OR_RETURN(proto::Embeddings embeddings,
                           provider_.FindEmbeddings(wanted.subspan(at, count)));
    const std::size_t each = std::max<std::size_t>(1, embeddings.vectors().data().size() / count);
    *out.emplace_back().message.add_embeddings() = std::move(embeddings);
    at += count;
    step = std::max<std::size_t>(1, kMessageBytes / each);
  }
  known_.insert(parsed.begin(), parsed.end());
  return absl::OkStatus();
}

absl::Status InsertOutbox::AddCatalog(const std::string& key, Messages& out) {
  SHOAL_ASSIGN_OR_RETURN(const content::ContentKey parsed, content::ContentKey::FromBytes(key));
  if (parsed.IsZero() || known_.contains(parsed)) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(auto found, provider_.FindCatalog(key));
  if (auto* catalog = std::get_if<proto::Catalog>(&found)) {
    SHOAL_RETURN_IF_ERROR(AddEmbeddings(Split(catalog->candidate_keys()), out));
    *out.emplace_back().message.add_catalogs() = std::move(*catalog);
  } else {
    proto::Overlay& overlay = std::get<proto::Overlay>(found);
    SHOAL_RETURN_IF_ERROR(AddCatalog(overlay.base(), out));
    SHOAL_RETURN_IF_ERROR(AddEmbeddings(Split(overlay.appended_keys()), out));
    *out.emplace_back().message.add_overlays() = std::move(overlay);
  }
  known_.insert(parsed);
  return absl::OkStatus();
}

Chunks InsertOutbox::Unsent(const ChunkedItem& item) const {
  Chunks chunks;
  for (const auto& chunk : item.chunks) {
    if (!known_chunks_.contains(chunk->key())) chunks.push_back(chunk);
  }
  return chunks;
}

void InsertOutbox::AddItem(Entry& entry, BlockRing* ring, Messages& out, OutboxOutcome& outcome) {
  Outgoing<proto::InsertRequest>& last = out.back();
  proto::Item& item = *last.message.add_items();
  item = entry.whole.item;
  PlacedPayload& payload = entry.payload;
  if (payload.size() == 0) return;
  const auto copied = ring == nullptr ? std::nullopt : MoveTo(*ring, payload);
  if (copied) {
    outcome.copied_bytes += *copied;
    *item.mutable_shared_payload() = payload.block->span();
    outcome.shared_bytes += payload.size();
    return;
  }
  last.payloads.resize(static_cast<std::size_t>(last.message.items_size()));
  last.payloads.back() = payload.memory;
}

void InsertOutbox::AddChunks(const Chunks& chunks, Messages& out) {
  if (known_chunks_.size() > kMaxKnown) known_chunks_.clear();
  std::size_t bytes = 0;
  for (const auto& chunk : chunks) {
    bytes += chunk->data().size();
    if (bytes > kMessageBytes) {
      out.emplace_back();
      bytes = chunk->data().size();
    }
    *out.back().message.add_chunks() = *chunk;
    known_chunks_.insert(chunk->key());
  }
}

}  // namespace shoal::replay::client
