// SPDX-License-Identifier: Apache-2.0
#include "replay/client/inserter.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/rendezvous_hashing.h"
#include "platform/runtime/thread.h"
#include "platform/transport/address_list.h"
#include "platform/transport/protocol.h"
#include "replay/client/insert_outbox.h"
#include "replay/client/link.h"
#include "replay/client/stream_ring.h"
#include "replay/signature.h"

namespace shoal::replay::client {
namespace {

// Requests are encoded when they are made.
using InsertLink = Link<grpc::ByteBuffer, proto::InsertReply>;

constexpr std::size_t kWaitingMessages = 4;
// Small items share a message, which costs as much as twenty of them.
constexpr std::size_t kItemsInMessage = 64;
// A shard takes as many on one stream.
constexpr std::size_t kMaxSignatures = 64;

}  // namespace

class Inserter::Impl {
 public:
  Impl(InserterOptions options, transport::AddressList list, ContentProvider& provider,
       runtime::Metrics& metrics, runtime::Clock& clock);
  ~Impl();

  // `payload` is null where the item has its payload.
  absl::Status TryInsert(ChunkedItem& item, const google::protobuf::MessageLite* payload)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status TryInsert(proto::Item& item, const google::protobuf::MessageLite* payload)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::string> StateSignature(const std::string& text) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnSpace(std::function<void()> on_space) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Drain(std::chrono::milliseconds timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  InserterStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Used by the inserter's thread only, without a lock.
  struct Worker {
    Worker(const std::string& address, const transport::Connector& connect,
           ContentProvider& provider, std::function<void()> wake)
        : address(address),
          link(address, connect, "Insert", "inference server", std::move(wake)),
          outbox(provider) {}
    const std::string address;
    InsertLink link;
    InsertOutbox outbox;
    InsertRing ring;
    bool live = false;
    // True once the list of addresses names it no longer.
    bool removed = false;
    std::uint64_t resent_total = 0;
    runtime::TimePoint away_since;
  };
  struct Incoming {
    ChunkedItem item;
    PlacedPayload payload;
  };
  struct Placed {
    std::string address = {};
    std::deque<Incoming> incoming = {};
    // What was placed there and has not left, which may not be in `incoming` yet.
    std::size_t items = 0;
    std::size_t bytes = 0;
    // Whether items may be placed there: the shard is connected and not removed.
    bool live = false;
    // Where payloads may be written for the shard. Null where it reads no ring.
    std::shared_ptr<BlockRing> ring = nullptr;
  };
  struct ShardMetrics {
    prometheus::Gauge* waiting;
    prometheus::Gauge* live;
  };

  absl::Status Check(const ChunkedItem& whole, const google::protobuf::MessageLite* payload,
                     std::size_t payload_bytes) const;
  // Chooses a shard for an item of so many bytes and counts it there.
  absl::StatusOr<std::size_t> ChooseLocked(const ChunkedItem& item, std::size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes workers for new addresses, and gives no more items to those that are gone.
  void FollowAddresses() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes a worker for the next shard that the list has named.
  void AddShard() ABSL_LOCKS_EXCLUDED(mutex_);
  void SetRemoved(std::size_t shard, bool removed) ABSL_LOCKS_EXCLUDED(mutex_);
  // Tells whether the shard takes items now, to those that place them.
  void SetOpen(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void Step(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void Receive(std::size_t shard, OutboxOutcome& outcome);
  void DropIfLost(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void Settle(std::size_t shard, const OutboxOutcome& outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLive(std::size_t shard, bool live) ABSL_LOCKS_EXCLUDED(mutex_);
  void TellSpace() ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<std::size_t> EmptiestLocked(std::size_t bytes, std::size_t turn) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the live shard for the chunks of this environment.
  std::optional<std::size_t> HomeLocked(std::uint64_t environment) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true if the shard is live and its outbox has room.
  bool MayTakeLocked(std::size_t shard, std::size_t bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::size_t WaitingLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const InserterOptions options_;
  ContentProvider& provider_;
  runtime::Metrics& metrics_;
  runtime::Clock& clock_;
  // Used by the inserter's thread only. Workers are in the order of list_.ever_named().
  transport::AddressList list_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<ShardMetrics> shard_metrics_;
  prometheus::Counter& acknowledged_;
  prometheus::Counter& resent_;
  prometheus::Counter& shared_;
  prometheus::Counter& dropped_lost_;
  prometheus::Counter& dropped_refused_;
  prometheus::Counter& dropped_content_;
  prometheus::Counter& blocked_full_;
  prometheus::Counter& blocked_away_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar work_;
  runtime::CondVar settled_;
  std::vector<Placed> placed_ ABSL_GUARDED_BY(mutex_);
  // The texts by their keys.
  Signatures signatures_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_space_ ABSL_GUARDED_BY(mutex_);
  InserterStats stats_ ABSL_GUARDED_BY(mutex_);
  std::size_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_work_ ABSL_GUARDED_BY(mutex_) = true;
  bool wants_space_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

Inserter::Impl::Impl(InserterOptions options, transport::AddressList list,
                     ContentProvider& provider, runtime::Metrics& metrics, runtime::Clock& clock)
    : options_(std::move(options)),
      provider_(provider),
      metrics_(metrics),
      clock_(clock),
      list_(std::move(list)),
      acknowledged_(metrics.Counter("shoal_inserter_acknowledged_total",
                                    "Items that a replay shard acknowledged")),
      resent_(metrics.Counter("shoal_inserter_resent_total", "Items sent once more")),
      shared_(metrics.Counter("shoal_inserter_shared_bytes_total",
                              "Bytes of payloads that went through shared memory")),
      dropped_lost_(metrics.Counter("shoal_inserter_dropped_total", "Items dropped",
                                    {{"reason", "shard_lost"}})),
      dropped_refused_(metrics.Counter("shoal_inserter_dropped_total", "Items dropped",
                                       {{"reason", "refused"}})),
      dropped_content_(metrics.Counter("shoal_inserter_dropped_total", "Items dropped",
                                       {{"reason", "content_missing"}})),
      blocked_full_(metrics.Counter("shoal_inserter_blocked_total", "Inserts turned away",
                                    {{"reason", "outbox_full"}})),
      blocked_away_(metrics.Counter("shoal_inserter_blocked_total", "Inserts turned away",
                                    {{"reason", "no_live_shard"}})) {
  while (workers_.size() < list_.ever_named().size()) AddShard();
  thread_ = runtime::Thread("replay-insert", [this] { Run(); });
}

void Inserter::Impl::AddShard() {
  const std::string& address = list_.ever_named()[workers_.size()];
  spdlog::info("event=replay_shard_added address={}", address);
  const runtime::Labels labels = {{"shard", std::to_string(workers_.size())}};
  shard_metrics_.push_back(
      {.waiting = &metrics_.Gauge("shoal_inserter_outbox_items",
                                  "Items that the shard has not acknowledged", labels),
       .live = &metrics_.Gauge("shoal_inserter_shard_live", "1 while connected", labels)});
  workers_.push_back(
      std::make_unique<Worker>(address, options_.connect, provider_, [this] { Wake(); }));
  workers_.back()->away_since = clock_.Now();
  const runtime::MutexLock lock(mutex_);
  placed_.push_back({.address = address});
}

void Inserter::Impl::FollowAddresses() {
  if (!list_.Refresh(clock_.Now())) return;
  for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
    SetRemoved(shard, !list_.Names(shard));
  }
  while (workers_.size() < list_.ever_named().size()) AddShard();
}

void Inserter::Impl::SetRemoved(std::size_t shard, bool removed) {
  Worker& worker = *workers_[shard];
  if (worker.removed == removed) return;
  worker.removed = removed;
  spdlog::info("event={} address={} waiting_items={}",
               removed ? "replay_shard_removed" : "replay_shard_added", worker.address,
               worker.outbox.size());
  SetOpen(shard);
}

void Inserter::Impl::SetOpen(std::size_t shard) {
  const Worker& worker = *workers_[shard];
  const runtime::MutexLock lock(mutex_);
  const bool open = worker.live && !worker.removed;
  if (placed_[shard].live == open) return;
  placed_[shard].live = open;
  placed_[shard].ring = open ? worker.ring.blocks() : nullptr;
  open ? ++stats_.live_shards : --stats_.live_shards;
}

Inserter::Impl::~Impl() {
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  thread_.Join();
  for (auto& worker : workers_) worker->link.Close();
}

absl::Status Inserter::Impl::Check(const ChunkedItem& whole,
                                   const google::protobuf::MessageLite* payload,
                                   std::size_t payload_bytes) const {
  const proto::Item& item = whole.item;
  if (payload != nullptr && !item.payload().empty()) {
    return runtime::InvalidArgument("the item has a payload besides the one that is given with it");
  }
  if (!item.has_id() || item.table().empty() || payload_bytes == 0) {
    return runtime::InvalidArgument("an item needs id, table and payload");
  }
  std::size_t largest = payload_bytes;
  bool matches = static_cast<std::size_t>(item.chunk_keys_size()) == whole.chunks.size();
  for (std::size_t i = 0; matches && i < whole.chunks.size(); ++i) {
    matches = whole.chunks[i]->key() == item.chunk_keys(static_cast<int>(i));
    largest = std::max(largest, whole.chunks[i]->data().size());
  }
  if (!matches) return runtime::InvalidArgument("an item's chunk_keys do not name its chunks");
  if (largest > options_.max_item_bytes) {
    return runtime::InvalidArgument("the item's payload or a chunk has " + std::to_string(largest) +
                                    " bytes, the limit is " +
                                    std::to_string(options_.max_item_bytes));
  }
  return absl::OkStatus();
}

absl::Status Inserter::Impl::TryInsert(ChunkedItem& item,
                                       const google::protobuf::MessageLite* payload) {
  const std::size_t payload_bytes =
      payload == nullptr ? item.item.payload().size() : payload->ByteSizeLong();
  SHOAL_RETURN_IF_ERROR(Check(item, payload, payload_bytes));
  std::size_t shard = 0;
  std::shared_ptr<BlockRing> ring;
  {
    const std::size_t apart = payload == nullptr ? 0 : payload_bytes;
    const runtime::MutexLock lock(mutex_);
    SHOAL_ASSIGN_OR_RETURN(shard, ChooseLocked(item, BytesOf(item) + apart));
    ring = placed_[shard].ring;
  }
  Incoming incoming{.item = std::move(item), .payload = {}};
  if (payload != nullptr && payload_bytes >= kReferencedBytes) {
    incoming.payload = Place(*payload, payload_bytes, ring.get());
  } else if (payload != nullptr) {
    payload->SerializeToString(incoming.item.item.mutable_payload());
  }
  const runtime::MutexLock lock(mutex_);
  placed_[shard].incoming.push_back(std::move(incoming));
  has_work_ = true;
  work_.NotifyOne();
  return absl::OkStatus();
}

absl::Status Inserter::Impl::TryInsert(proto::Item& item,
                                       const google::protobuf::MessageLite* payload) {
  ChunkedItem whole{.item = std::move(item)};
  absl::Status status = TryInsert(whole, payload);
  if (!status.ok()) item = std::move(whole.item);
  return status;
}

absl::StatusOr<std::size_t> Inserter::Impl::ChooseLocked(const ChunkedItem& item,
                                                         std::size_t bytes) {
  const std::string& signature = item.item.signature();
  if (!signature.empty() && !signatures_.contains(signature)) {
    return runtime::InvalidArgument("the item names a signature that was not stated");
  }
  if (draining_) return runtime::Cancelled("the inserter is draining");
  std::optional<std::size_t> shard = EmptiestLocked(bytes, turn_);
  if (!shard) {
    wants_space_ = true;
    const bool away = stats_.live_shards == 0;
    (away ? blocked_away_ : blocked_full_).Increment();
    return runtime::ResourceExhausted(away ? "no replay shard is connected"
                                           : "the outboxes of all replay shards are full");
  }
  if (!item.chunks.empty()) {
    const std::optional<std::size_t> home = HomeLocked(item.item.id().environment_id());
    if (home && MayTakeLocked(*home, bytes)) shard = home;
  }
  turn_ = *shard + 1;
  ++placed_[*shard].items;
  placed_[*shard].bytes += bytes;
  ++stats_.inserted_total;
  return *shard;
}

absl::StatusOr<std::string> Inserter::Impl::StateSignature(const std::string& text) {
  SHOAL_RETURN_IF_ERROR(Signature::Parse(text).status());
  std::string key(content::KeyOf(text).AsBytes());
  const runtime::MutexLock lock(mutex_);
  if (signatures_.size() >= kMaxSignatures && !signatures_.contains(key)) {
    return runtime::InvalidArgument("an inserter states at most " + std::to_string(kMaxSignatures) +
                                    " signatures");
  }
  signatures_.emplace(key, text);
  return key;
}

std::optional<std::size_t> Inserter::Impl::EmptiestLocked(std::size_t bytes,
                                                          std::size_t turn) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const std::size_t shard = (turn + i) % placed_.size();
    if (!MayTakeLocked(shard, bytes)) continue;
    if (!best || placed_[shard].items < placed_[*best].items) best = shard;
  }
  return best;
}

std::optional<std::size_t> Inserter::Impl::HomeLocked(std::uint64_t environment) const {
  std::vector<runtime::Place> places;
  places.reserve(placed_.size());
  for (const Placed& placed : placed_) {
    places.push_back({.name = placed.address, .open = placed.live});
  }
  return runtime::HomeOf(environment, places);
}

bool Inserter::Impl::MayTakeLocked(std::size_t shard, std::size_t bytes) const {
  const Placed& placed = placed_[shard];
  const bool fits = placed.items == 0 || (placed.items < options_.outbox_items &&
                                          placed.bytes + bytes <= options_.outbox_bytes);
  return placed.live && fits;
}

void Inserter::Impl::OnSpace(std::function<void()> on_space) {
  const runtime::MutexLock lock(mutex_);
  on_space_ = std::move(on_space);
}

absl::Status Inserter::Impl::Drain(std::chrono::milliseconds timeout) {
  const runtime::TimePoint deadline = clock_.Now() + timeout;
  const runtime::MutexLock lock(mutex_);
  draining_ = true;
  while (WaitingLocked() > 0) {
    if (!clock_.WaitUntil(settled_, mutex_, deadline)) break;
  }
  if (WaitingLocked() == 0) return absl::OkStatus();
  return absl::DeadlineExceededError(std::to_string(WaitingLocked()) +
                                     " items are not acknowledged");
}

std::size_t Inserter::Impl::WaitingLocked() const {
  std::size_t waiting = 0;
  for (const Placed& placed : placed_) waiting += placed.items;
  return waiting;
}

InserterStats Inserter::Impl::stats() const {
  const runtime::MutexLock lock(mutex_);
  InserterStats stats = stats_;
  stats.waiting = WaitingLocked();
  return stats;
}

void Inserter::Impl::Wake() {
  const runtime::MutexLock lock(mutex_);
  has_work_ = true;
  work_.NotifyOne();
}

void Inserter::Impl::Run() {
  for (;;) {
    {
      const runtime::TimePoint deadline = clock_.Now() + kLinkTick;
      const runtime::MutexLock lock(mutex_);
      while (!has_work_ && !stopping_) {
        if (!clock_.WaitUntil(work_, mutex_, deadline)) break;
      }
      if (stopping_) return;
      has_work_ = false;
    }
    FollowAddresses();
    for (std::size_t shard = 0; shard < workers_.size(); ++shard) Step(shard);
    TellSpace();
  }
}

void Inserter::Impl::Step(std::size_t shard) {
  Worker& worker = *workers_[shard];
  OutboxOutcome outcome;
  std::size_t placed = 0;
  {
    std::deque<Incoming> incoming;
    {
      const runtime::MutexLock lock(mutex_);
      incoming.swap(placed_[shard].incoming);
      placed = placed_[shard].items;
      if (worker.outbox.signatures().size() < signatures_.size()) {
        worker.outbox.SetSignatures(signatures_);
      }
    }
    for (auto& [item, payload] : incoming) worker.outbox.Add(std::move(item), std::move(payload));
  }
  Receive(shard, outcome);
  // An item that was placed before the shard was removed may still be on its way to `incoming`.
  if (worker.removed && placed == outcome.left()) {
    worker.link.Close();
    worker.ring.Close();
    // A connection to an address that is named again knows nothing of this one.
    worker.outbox.Disconnected();
    if (worker.live) SetLive(shard, false);
    Settle(shard, outcome);
    return;
  }
  if (worker.link.MayOpen(clock_.Now())) {
    proto::InsertRequest hello;
    hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    hello.mutable_hello()->set_client(options_.client);
    if (options_.shares_memory) worker.ring.Offer(worker.address, *hello.mutable_hello());
    worker.link.Open(Encode({.message = std::move(hello)}));
  }
  while (worker.live && worker.outbox.MaySend() && worker.link.outbox_size() < kWaitingMessages) {
    const auto ring = worker.ring.blocks();
    for (auto& message : worker.outbox.SendNext(kItemsInMessage, outcome, ring.get())) {
      worker.link.Send(Encode(std::move(message)));
    }
  }
  resent_.Increment(static_cast<double>(worker.outbox.resent_total() - worker.resent_total));
  worker.resent_total = worker.outbox.resent_total();
  Settle(shard, outcome);
  DropIfLost(shard);
}

void Inserter::Impl::Receive(std::size_t shard, OutboxOutcome& outcome) {
  Worker& worker = *workers_[shard];
  for (const proto::InsertReply& reply : worker.link.TakeReplies()) {
    worker.ring.Follow(reply);
    worker.outbox.Handle(reply, outcome);
    if (!worker.live) SetLive(shard, true);
  }
  if (const auto end = worker.link.TakeEnd(clock_.Now())) {
    worker.ring.Close();
    worker.outbox.Disconnected();
    if (worker.live || !absl::IsUnavailable(*end)) {
      spdlog::warn("event=insert_stream_end reason={}", runtime::Quoted(end->ToString()));
    }
    if (worker.live) SetLive(shard, false);
  }
}

void Inserter::Impl::SetLive(std::size_t shard, bool live) {
  workers_[shard]->live = live;
  workers_[shard]->away_since = clock_.Now();
  shard_metrics_[shard].live->Set(live ? 1 : 0);
  SetOpen(shard);
}

void Inserter::Impl::Settle(std::size_t shard, const OutboxOutcome& outcome) {
  acknowledged_.Increment(static_cast<double>(outcome.acknowledged));
  dropped_refused_.Increment(static_cast<double>(outcome.refused));
  dropped_content_.Increment(static_cast<double>(outcome.without_content));
  shared_.Increment(static_cast<double>(outcome.shared_bytes));
  const runtime::MutexLock lock(mutex_);
  Placed& placed = placed_[shard];
  placed.items -= outcome.left();
  placed.bytes -= outcome.bytes;
  stats_.acknowledged_total += outcome.acknowledged;
  stats_.dropped_total += outcome.refused + outcome.without_content;
  stats_.shared_bytes_total += outcome.shared_bytes;
  stats_.copied_bytes_total += outcome.copied_bytes;
  shard_metrics_[shard].waiting->Set(static_cast<double>(placed.items));
  if (outcome.left() > 0) settled_.NotifyAll();
}

void Inserter::Impl::DropIfLost(std::size_t shard) {
  Worker& worker = *workers_[shard];
  if (worker.live || worker.outbox.size() == 0) return;
  if (clock_.Now() - worker.away_since < options_.lost_after) return;
  std::size_t bytes = 0;
  const std::size_t dropped = worker.outbox.DropAll(bytes);
  dropped_lost_.Increment(static_cast<double>(dropped));
  spdlog::error("event=shard_lost address={} dropped_items={}", worker.address, dropped);
  const runtime::MutexLock lock(mutex_);
  placed_[shard].items -= dropped;
  placed_[shard].bytes -= bytes;
  stats_.dropped_total += dropped;
  settled_.NotifyAll();
}

void Inserter::Impl::TellSpace() {
  std::function<void()> on_space;
  {
    const runtime::MutexLock lock(mutex_);
    if (!wants_space_ || !EmptiestLocked(0, 0)) return;
    wants_space_ = false;
    on_space = on_space_;
  }
  if (on_space) on_space();
}

Inserter::Inserter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Inserter::~Inserter() = default;

absl::StatusOr<std::unique_ptr<Inserter>> Inserter::Create(InserterOptions options,
                                                           ContentProvider& provider,
                                                           runtime::Metrics& metrics,
                                                           runtime::Clock& clock) {
  SHOAL_ASSIGN_OR_RETURN(
      transport::AddressList list,
      transport::AddressList::Create(options.addresses, options.address_file, "replay shard"));
  if (list.addresses().empty()) {
    return runtime::InvalidArgument("there is no replay shard to insert into");
  }
  return std::unique_ptr<Inserter>(new Inserter(
      std::make_unique<Impl>(std::move(options), std::move(list), provider, metrics, clock)));
}

absl::Status Inserter::TryInsert(proto::Item&& item) { return impl_->TryInsert(item, nullptr); }
absl::Status Inserter::TryInsert(proto::Item&& item, const google::protobuf::MessageLite& payload) {
  return impl_->TryInsert(item, &payload);
}
absl::Status Inserter::TryInsert(ChunkedItem&& item) { return impl_->TryInsert(item, nullptr); }
absl::StatusOr<std::string> Inserter::StateSignature(const std::string& text) {
  return impl_->StateSignature(text);
}
void Inserter::OnSpace(std::function<void()> on_space) { impl_->OnSpace(std::move(on_space)); }
absl::Status Inserter::Drain(std::chrono::milliseconds timeout) { return impl_->Drain(timeout); }
InserterStats Inserter::stats() const { return impl_->stats(); }

}  // namespace shoal::replay::client
