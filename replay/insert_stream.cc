// SPDX-License-Identifier: Apache-2.0
#include "replay/insert_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/log.h"
#include "platform/transport/protocol.h"
#include "replay/wire.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kMaxSignatures = 64;

}  // namespace

void InsertStream::OnMessage(proto::InsertRequest&& request) {
  {
    const runtime::MutexLock lock(mutex_);
    absl::Status status = greeted_ ? absl::OkStatus() : Greet(request);
    if (status.ok()) status = TakeSignatures(request);
    if (status.ok()) {
      PutContents(request);
      Answer(request);
    } else {
      Fail(status);
    }
  }
  Release();
}

absl::Status InsertStream::Greet(const proto::InsertRequest& request) {
  if (!request.has_hello()) {
    return runtime::InvalidArgument("the first message of Insert has no hello");
  }
  SHOAL_RETURN_IF_ERROR(transport::CheckProtocolVersion(request.hello().protocol_version(),
                                                        request.hello().client(), "replay shard"));
  greeted_ = true;
  client_ = request.hello().client();
  spdlog::info("event=insert_stream_open client={}", runtime::Quoted(client_));
  proto::InsertReply reply;
  reply.mutable_welcome()->set_protocol_version(transport::kProtocolVersion);
  if (local_ && request.hello().has_ring()) OpenRing(request.hello().ring());
  reply.mutable_welcome()->set_reads_ring(ring_ != nullptr);
  SendWithCredit(std::move(reply), Credit());
  return absl::OkStatus();
}

void InsertStream::OpenRing(const proto::RingAddress& address) {
  auto ring = RingReader::Open(address);
  if (ring.ok()) {
    ring_ = *std::move(ring);
  } else {
    spdlog::warn("event=ring_refused client={} reason={}", runtime::Quoted(client_),
                 runtime::Quoted(runtime::Message(ring.status())));
  }
}

absl::Status InsertStream::FetchPayload(proto::Item& item) {
  if (!item.has_shared_payload()) return absl::OkStatus();
  if (ring_ == nullptr) return runtime::InvalidArgument("the stream has no ring for payloads");
  SHOAL_ASSIGN_OR_RETURN(const std::string_view payload, ring_->View(item.shared_payload()));
  if (payload.size() > options_.max_item_bytes) {
    return runtime::InvalidArgument("the item's payload has " + std::to_string(payload.size()) +
                                    " bytes, the limit is " +
                                    std::to_string(options_.max_item_bytes));
  }
  item.mutable_payload()->assign(payload);
  item.clear_shared_payload();
  return absl::OkStatus();
}

absl::Status InsertStream::TakeSignatures(const proto::InsertRequest& request) {
  for (const std::string& text : request.signatures()) {
    SHOAL_ASSIGN_OR_RETURN(Signature signature, Signature::Parse(text));
    signatures_.emplace(content::KeyOf(text).AsBytes(), std::move(signature));
  }
  if (signatures_.size() <= kMaxSignatures) return absl::OkStatus();
  return runtime::InvalidArgument("a stream states at most " + std::to_string(kMaxSignatures) +
                                  " signatures");
}

absl::Status InsertStream::CheckSignature(const proto::Item& item) {
  if (item.signature().empty()) {
    if (!shard_.RequiresSignature(item.table())) return absl::OkStatus();
    return runtime::FailedPrecondition("table " + item.table() +
                                       " has a signature, the item states none");
  }
  std::pair<std::string, std::string> both(item.table(), item.signature());
  if (admitted_.contains(both)) return absl::OkStatus();
  const auto stated = signatures_.find(item.signature());
  if (stated == signatures_.end()) {
    return runtime::InvalidArgument("the item's signature was not stated on this stream");
  }
  SHOAL_RETURN_IF_ERROR(shard_.Admit(item.table(), stated->second));
  admitted_.insert(std::move(both));
  return absl::OkStatus();
}

void InsertStream::PutContents(proto::InsertRequest& request) {
  const auto put = [this](absl::StatusOr<Content> content) {
    const absl::Status status = content.ok() ? shard_.Put(*std::move(content)) : content.status();
    // When contents are full, the client learns of it from the answer to the item.
    if (!status.ok() && !shard_.ContentsFull()) {
      spdlog::warn("event=content_refused reason={}", runtime::Quoted(status.ToString()));
    }
  };
  for (const auto& embeddings : request.embeddings()) {
    auto contents = FromProto(embeddings);
    if (!contents.ok()) {
      put(contents.status());
      continue;
    }
    for (Content& content : *contents) put(std::move(content));
  }
  for (const auto& catalog : request.catalogs()) put(FromProto(catalog));
  for (const auto& overlay : request.overlays()) put(FromProto(overlay));
  for (proto::Chunk& chunk : *request.mutable_chunks()) {
    put(FromProto(std::move(chunk), options_.max_item_bytes));
  }
}

absl::Status InsertStream::Insert(proto::Item& item, proto::ItemStatus& answer) {
  SHOAL_RETURN_IF_ERROR(FetchPayload(item));
  SHOAL_RETURN_IF_ERROR(CheckSignature(item));
  const std::string table = item.table();
  if (const std::size_t promised = promises_.ToOthers(this, table); promised > 0) {
    const std::size_t room = shard_.Room(table);
    if (room > 0 && promised >= room) {
      tables_.insert(table);
      return runtime::ResourceExhausted("table " + table +
                                        " has no room but for others, who have " + "waited longer");
    }
  }
  SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<Item> parsed, FromProto(item, options_.max_item_bytes));
  const absl::Status status = shard_.Insert(table, parsed);
  if (status.ok() || absl::IsResourceExhausted(status)) tables_.insert(table);
  if (status.ok() && item.has_ends_round()) shard_.EndRound(table, FromProto(item.ends_round()));
  if (!absl::IsNotFound(status)) return status;
  for (const Key& key : shard_.Missing(*parsed)) {
    answer.add_missing_keys(std::string(key.AsBytes()));
  }
  if (!shard_.ContentsFull()) return status;
  return runtime::ResourceExhausted(runtime::Message(status) +
                                    " has no room: contents in use fill the shard");
}

void InsertStream::Answer(proto::InsertRequest& request) {
  if (request.items_size() == 0) return;
  proto::InsertReply reply;
  bool full = false;
  bool stored = false;
  for (proto::Item& item : *request.mutable_items()) {
    proto::ItemStatus answer;
    const absl::Status status = Insert(item, answer);
    full = full || absl::IsResourceExhausted(status);
    stored = stored || status.ok();
    *answer.mutable_id() = item.id();
    answer.set_code(static_cast<std::int32_t>(status.code()));
    if (!status.ok()) answer.set_message(runtime::Message(status));
    const std::uint64_t durable_at = status.ok() ? shard_.AcknowledgedAt(item.table()) : 0;
    if (durable_at > shard_.durable()) {
      held_.emplace_back(durable_at, std::move(answer));
    } else {
      *reply.add_items() = std::move(answer);
    }
  }
  promises_.Use(this, static_cast<std::size_t>(request.items_size()));
  if (stored) streams_.Leave(this);
  if (reply.items_size() == 0) return;
  SendWithCredit(std::move(reply), full ? 0 : Credit());
}

void InsertStream::SendWithCredit(proto::InsertReply&& reply, std::uint32_t credit) {
  reply.set_credit(credit);
  starved_ = credit == 0;
  if (starved_) streams_.Stand(this);
  Send(std::move(reply));
}

void InsertStream::Wake() {
  const runtime::MutexLock lock(mutex_);
  if (!greeted_ || ended_) return;
  proto::InsertReply reply;
  const std::uint64_t durable = shard_.durable();
  for (; !held_.empty() && held_.front().first <= durable; held_.pop_front()) {
    *reply.add_items() = std::move(held_.front().second);
  }
  if (!starved_ && reply.items_size() == 0) return;
  const std::uint32_t credit = Credit();
  if (reply.items_size() == 0 && credit == 0) return;
  if (starved_ && credit > 0) promises_.Make(this, Tables(), credit);
  SendWithCredit(std::move(reply), credit);
}

std::set<std::string> InsertStream::WaitsFor() {
  const runtime::MutexLock lock(mutex_);
  return starved_ ? tables_ : std::set<std::string>();
}

std::set<std::string> InsertStream::Tables() const {
  if (!tables_.empty()) return tables_;
  std::set<std::string> all;
  for (const TableOptions& table : shard_.options().tables) all.insert(table.name);
  return all;
}

void InsertStream::OnEnd() {
  {
    const runtime::MutexLock lock(mutex_);
    ended_ = true;
  }
  streams_.Remove(this);
  promises_.Drop(this);
  shard_.Notify();
}

std::size_t InsertStream::RoomIn(const std::string& table) const {
  const std::size_t room = shard_.Room(table);
  return room - std::min(room, promises_.ToOthers(this, table));
}

std::uint32_t InsertStream::Credit() const {
  std::size_t room = options_.credit;
  if (tables_.empty()) {
    room = 0;
    for (const TableOptions& table : shard_.options().tables) {
      room = std::max(room, RoomIn(table.name));
    }
  }
  for (const std::string& table : tables_) room = std::min(room, RoomIn(table));
  // Asked last, since Room lets items go that are too old, and their contents with them.
  if (room == 0 || shard_.ContentsFull()) return 0;
  const std::size_t share = room / std::max<std::size_t>(1, streams_.size());
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(share, 1, options_.credit));
}

}  // namespace shoal::replay
