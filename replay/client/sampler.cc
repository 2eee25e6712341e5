// SPDX-License-Identifier: Apache-2.0
#include "replay/client/sampler.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "platform/transport/address_list.h"
#include "replay/client/incoming_reply.h"
#include "replay/client/priority_outbox.h"
#include "replay/client/sampled_shard.h"
#include "replay/client/shard_masses.h"
#include "replay/signature.h"
#include "replay/wire.h"

namespace shoal::replay::client {
namespace {

// Small messages are not worth their cost.
bool IsWorthAsking(std::size_t wanted, std::size_t most) {
  return wanted >= std::max<std::size_t>(1, most / 4);
}

}  // namespace

class Sampler::Impl {
 public:
  Impl(SamplerOptions options, transport::AddressList list, ContentSink& sink,
       runtime::Metrics& metrics, runtime::Clock& clock);
  ~Impl();

  absl::StatusOr<SampledUnroll> Next(std::chrono::milliseconds timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  void Want(std::size_t count, const proto::PolicyVersion& played) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status UpdatePriorities(std::span<const PriorityUpdate> updates)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void SetCurrentVersion(const proto::PolicyVersion& version) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  SamplerStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Wait {
    std::size_t shard = 0;
    // As the error of Next has it.
    std::string reason = {};
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Knows the shards of new addresses, and ends the streams to those that are gone.
  void FollowAddresses() ABSL_LOCKS_EXCLUDED(mutex_);
  // Knows the next shard that the list has named.
  void AddShard() ABSL_LOCKS_EXCLUDED(mutex_);
  void SetRemoved(std::size_t shard, bool removed) ABSL_LOCKS_EXCLUDED(mutex_);
  // The most items that are queued or on their way: of all shards, and of one whose table does not
  // draw at random.
  std::size_t prefetch() const { return std::max(list_.addresses().size(), options_.prefetch); }
  std::size_t share() const {
    return std::max<std::size_t>(1, options_.prefetch / list_.addresses().size());
  }
  void Step(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void Receive(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns false if the shard sent more items than it had credit for.
  bool TakeReply(std::size_t shard, IncomingReply& incoming) ABSL_LOCKS_EXCLUDED(mutex_);
  void TakeMass(std::size_t shard, const proto::SampleReply& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  // Shares out free credit among the shards whose tables draw at random.
  void Draw() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the credit that no shard has and no queued item stands for.
  std::size_t FreeCredit() const ABSL_LOCKS_EXCLUDED(mutex_);
  void LeaveOutSilent() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns true if the learner waits while shards that give nothing have all credit.
  bool IsHeldUp() const ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLeftOut(SampledShard& shard, bool left_out) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the credit that the shard is to be given now. `held` is what it has, and what is queued
  // of it.
  std::size_t Wanted(std::size_t shard, std::size_t held) const;
  void Ask(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void TellForgotten() ABSL_LOCKS_EXCLUDED(mutex_);
  void Queue(std::size_t shard, IncomingReply& incoming, int index) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountInvalid(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLive(std::size_t shard, bool live) ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);

  const SamplerOptions options_;
  ContentSink& sink_;
  runtime::Clock& clock_;
  // Used by the sampler's thread only. Shards are in the order of list_.ever_named().
  transport::AddressList list_;
  std::vector<std::unique_ptr<SampledShard>> shards_;
  ShardMasses masses_;  // used by the sampler's thread only
  prometheus::Counter& received_;
  prometheus::Counter& shared_;
  prometheus::Counter& dropped_stale_;
  prometheus::Counter& dropped_invalid_;
  prometheus::Gauge& queued_;
  prometheus::Gauge& live_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar work_;
  runtime::CondVar not_empty_;
  std::deque<SampledUnroll> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::size_t> queued_of_ ABSL_GUARDED_BY(mutex_);
  PriorityOutbox updates_ ABSL_GUARDED_BY(mutex_);
  PolicyVersion current_ ABSL_GUARDED_BY(mutex_);
  SamplerStats stats_ ABSL_GUARDED_BY(mutex_);
  // Why a shard ended its stream last, if another try cannot help. Empty once one gives again.
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
  // The shard that said last that it waits, and for what. Nothing once a shard gives, and once that
  // one is gone.
  std::optional<Wait> wait_ ABSL_GUARDED_BY(mutex_);
  // On demand: how many items Next is to return, and the round after which they are drawn.
  std::size_t wanted_ ABSL_GUARDED_BY(mutex_) = 0;
  proto::PolicyVersion played_ ABSL_GUARDED_BY(mutex_);
  // On demand: whether the shard gave its stream up.
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_work_ ABSL_GUARDED_BY(mutex_) = true;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

Sampler::Impl::Impl(SamplerOptions options, transport::AddressList list, ContentSink& sink,
                    runtime::Metrics& metrics, runtime::Clock& clock)
    : options_(std::move(options)),
      sink_(sink),
      clock_(clock),
      list_(std::move(list)),
      masses_(0, runtime::DeriveSeed(options_.seed, "sampler " + options_.client)),
      received_(metrics.Counter("shoal_sampler_received_total", "Items that shards handed out")),
      shared_(metrics.Counter("shoal_sampler_shared_bytes_total",
                              "Bytes of payloads that came through shared memory")),
      dropped_stale_(metrics.Counter("shoal_sampler_dropped_total", "Items not returned",
                                     {{"reason", "stale"}})),
      dropped_invalid_(metrics.Counter("shoal_sampler_dropped_total", "Items not returned",
                                       {{"reason", "invalid"}})),
      queued_(metrics.Gauge("shoal_sampler_queue_items", "Items waiting for the learner")),
      live_(metrics.Gauge("shoal_sampler_live_shards", "Replay shards connected")) {
  while (shards_.size() < list_.ever_named().size()) AddShard();
  thread_ = runtime::Thread("replay-sample", [this] { Run(); });
}

void Sampler::Impl::AddShard() {
  const std::string& address = list_.ever_named()[shards_.size()];
  spdlog::info("event=replay_shard_added address={}", address);
  shards_.push_back(std::make_unique<SampledShard>(address, options_.connect, [this] { Wake(); }));
  masses_.Add();
  const runtime::MutexLock lock(mutex_);
  queued_of_.push_back(0);
  updates_.AddShard();
}

void Sampler::Impl::FollowAddresses() {
  if (!list_.Refresh(clock_.Now())) return;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    SetRemoved(shard, !list_.Names(shard));
  }
  while (shards_.size() < list_.ever_named().size()) AddShard();
}

void Sampler::Impl::SetRemoved(std::size_t shard, bool removed) {
  SampledShard& peer = *shards_[shard];
  if (std::exchange(peer.removed, removed) == removed) return;
  if (!removed) {
    spdlog::info("event=replay_shard_added address={}", peer.address);
    return;
  }
  spdlog::info("event=replay_shard_removed address={} items_on_their_way={}", peer.address,
               peer.outstanding);
  peer.link.Close();
  peer.ring = {};
  if (peer.live) SetLive(shard, false);
  peer.by_mass = false;
  masses_.Set(shard, std::nullopt);
  const runtime::MutexLock lock(mutex_);
  updates_.Clear(shard);
}

Sampler::Impl::~Impl() {
  Close();
  thread_.Join();
}

absl::StatusOr<SampledUnroll> Sampler::Impl::Next(std::chrono::milliseconds timeout) {
  const runtime::TimePoint deadline = clock_.Now() + timeout;
  const runtime::MutexLock lock(mutex_);
  for (;;) {
    while (!closed_ && !lost_ && queue_.empty()) {
      if (!clock_.WaitUntil(not_empty_, mutex_, deadline)) break;
    }
    if (closed_) return runtime::Cancelled("the sampler is closed");
    if (lost_) {
      return runtime::FailedPrecondition(
          "the replay shard was lost, and lock step cannot go on without what it held");
    }
    if (queue_.empty()) {
      const std::string reason = refusal_.empty() && wait_ ? wait_->reason : refusal_;
      return absl::DeadlineExceededError("no unroll came in " + std::to_string(timeout.count()) +
                                         " ms" + (reason.empty() ? "" : ": " + reason));
    }
    SampledUnroll unroll = std::move(queue_.front());
    queue_.pop_front();
    queued_.Set(static_cast<double>(queue_.size()));
    --queued_of_[unroll.shard];
    if (wanted_ > 0) --wanted_;
    has_work_ = true;
    work_.NotifyOne();
    if (!IsStale(FromProto(unroll.oldest_version), current_, options_.max_lag)) return unroll;
    ++stats_.dropped_stale_total;
    dropped_stale_.Increment();
  }
}

absl::Status Sampler::Impl::UpdatePriorities(std::span<const PriorityUpdate> updates) {
  const runtime::MutexLock lock(mutex_);
  SHOAL_RETURN_IF_ERROR(updates_.Add(updates));
  has_work_ = true;
  work_.NotifyOne();
  return absl::OkStatus();
}

void Sampler::Impl::Want(std::size_t count, const proto::PolicyVersion& played) {
  const runtime::MutexLock lock(mutex_);
  wanted_ = count;
  played_ = played;
  has_work_ = true;
  work_.NotifyOne();
}

void Sampler::Impl::SetCurrentVersion(const proto::PolicyVersion& version) {
  const runtime::MutexLock lock(mutex_);
  if (FromProto(version) <= current_) return;
  current_ = FromProto(version);
  has_work_ = true;
  work_.NotifyOne();
}

void Sampler::Impl::Close() {
  const runtime::MutexLock lock(mutex_);
  closed_ = true;
  work_.NotifyAll();
  not_empty_.NotifyAll();
}

SamplerStats Sampler::Impl::stats() const {
  const runtime::MutexLock lock(mutex_);
  SamplerStats stats = stats_;
  stats.dropped_updates_total = updates_.dropped_total();
  stats.waiting = queue_.size();
  return stats;
}

void Sampler::Impl::Wake() {
  const runtime::MutexLock lock(mutex_);
  has_work_ = true;
  work_.NotifyOne();
}

void Sampler::Impl::Run() {
  for (;;) {
    {
      const runtime::TimePoint deadline = clock_.Now() + kLinkTick;
      const runtime::MutexLock lock(mutex_);
      while (!has_work_ && !closed_) {
        if (!clock_.WaitUntil(work_, mutex_, deadline)) break;
      }
      if (closed_) break;
      has_work_ = false;
    }
    FollowAddresses();
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (!shards_[shard]->removed) Step(shard);
    }
    if (!options_.on_demand) Draw();
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (shards_[shard]->link.open()) Ask(shard);
    }
  }
  for (auto& shard : shards_) shard->link.Close();
}

void Sampler::Impl::Step(std::size_t shard) {
  SampledShard& peer = *shards_[shard];
  Receive(shard);
  TellForgotten();
  if (peer.ForgetChunks(options_.chunk_bytes / list_.addresses().size())) Wake();
  if (peer.link.MayOpen(clock_.Now())) peer.Open(options_);
}

void Sampler::Impl::Receive(std::size_t shard) {
  SampledShard& peer = *shards_[shard];
  for (IncomingReply& incoming : peer.link.TakeReplies()) {
    if (!peer.live) SetLive(shard, true);
    if (TakeReply(shard, incoming)) continue;
    peer.link.Cancel();
    break;
  }
  if (const auto end = peer.link.TakeEnd(clock_.Now())) {
    if (peer.live || !absl::IsUnavailable(*end)) {
      spdlog::warn("event=sample_stream_end reason={}", runtime::Quoted(end->ToString()));
    }
    if (absl::IsFailedPrecondition(*end)) {
      const runtime::MutexLock lock(mutex_);
      refusal_ = runtime::Message(*end);
    }
    if (peer.live) {
      SetLive(shard, false);
      const runtime::MutexLock lock(mutex_);
      lost_ = options_.on_demand;
      not_empty_.NotifyAll();
    }
    peer.by_mass = false;
    masses_.Set(shard, std::nullopt);
  }
}

bool Sampler::Impl::TakeReply(std::size_t shard, IncomingReply& incoming) {
  proto::SampleReply& reply = incoming.reply;
  SampledShard& peer = *shards_[shard];
  if (static_cast<std::size_t>(reply.items_size()) > peer.outstanding) {
    CountInvalid(runtime::InvalidArgument(
        "shard " + peer.address + " sent " + std::to_string(reply.items_size()) +
        " items with credit for " + std::to_string(peer.outstanding)));
    return false;
  }
  peer.ring.Open(reply.welcome());
  peer.chunks.Heard(reply.forgotten_total());
  DeliverContents(reply, sink_, [this](const absl::Status& status) { CountInvalid(status); });
  for (proto::Chunk& chunk : *reply.mutable_chunks()) {
    if (const auto status = peer.chunks.Add(std::move(chunk)); !status.ok()) CountInvalid(status);
  }
  if (reply.items_size() > 0) {
    peer.silence.Begin(clock_.Now());
    SetLeftOut(peer, false);
    const std::uint64_t steps = peer.CountInserted(reply.inserted_steps());
    const runtime::MutexLock lock(mutex_);
    stats_.inserted_steps_total += steps;
  } else if (!reply.wait().empty()) {
    peer.silence.Waits(reply.wait(), clock_.Now());
    const runtime::MutexLock lock(mutex_);
    wait_ = {.shard = shard, .reason = "shard " + peer.address + " waits for " + reply.wait()};
  }
  // The items were drawn from what the shard held before, if that is known. On demand it is what it
  // holds still.
  if (options_.on_demand || !masses_.Has(shard)) TakeMass(shard, reply);
  for (int index = 0; index < reply.items_size(); ++index) {
    --peer.outstanding;
    Queue(shard, incoming, index);
  }
  TakeMass(shard, reply);
  return true;
}

void Sampler::Impl::TakeMass(std::size_t shard, const proto::SampleReply& reply) {
  if (!reply.has_mass()) return;
  SampledShard& peer = *shards_[shard];
  peer.by_mass = true;
  const absl::StatusOr<Mass> mass = FromProto(reply.mass());
  if (!mass.ok()) {
    CountInvalid(mass.status());
  } else if (!peer.left_out) {
    masses_.Set(shard, *mass);
  }
}

void Sampler::Impl::Draw() {
  LeaveOutSilent();
  if (masses_.Total().size == 0) return;
  const std::size_t wanted = FreeCredit();
  if (!IsWorthAsking(wanted, prefetch())) return;
  for (std::size_t i = 0; i < wanted; ++i) ++shards_[masses_.Draw()]->drawn;
}

std::size_t Sampler::Impl::FreeCredit() const {
  std::size_t held = 0;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    if (masses_.Has(shard)) held += shards_[shard]->drawn + shards_[shard]->outstanding;
  }
  const runtime::MutexLock lock(mutex_);
  held += queue_.size();
  return prefetch() - std::min(prefetch(), held);
}

bool Sampler::Impl::IsHeldUp() const {
  bool others = false;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    const SampledShard& peer = *shards_[shard];
    others = others || (masses_.HasItems(shard) && peer.outstanding + peer.drawn == 0);
  }
  if (!others || IsWorthAsking(FreeCredit(), prefetch())) return false;
  const runtime::MutexLock lock(mutex_);
  return queue_.empty();
}

void Sampler::Impl::LeaveOutSilent() {
  const runtime::TimePoint now = clock_.Now();
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    SampledShard& peer = *shards_[shard];
    if (!masses_.Has(shard) || peer.outstanding == 0 || !peer.silence.lasts(now)) continue;
    const bool waits = peer.silence.explained(now);
    if (waits && !IsHeldUp()) continue;
    if (!waits) {
      spdlog::warn("event=replay_shard_silent address={} credit={}", peer.address,
                   peer.outstanding);
    }
    masses_.Set(shard, std::nullopt);
    peer.drawn = 0;
    SetLeftOut(peer, true);
  }
}

void Sampler::Impl::SetLeftOut(SampledShard& shard, bool left_out) {
  if (std::exchange(shard.left_out, left_out) == left_out) return;
  const runtime::MutexLock lock(mutex_);
  left_out ? ++stats_.left_out_shards : --stats_.left_out_shards;
}

std::size_t Sampler::Impl::Wanted(std::size_t shard, std::size_t held) const {
  if (shards_[shard]->by_mass) return shards_[shard]->drawn;
  const std::size_t wanted = share() - std::min(share(), held);
  return shards_[shard]->live && IsWorthAsking(wanted, share()) ? wanted : 0;
}

void Sampler::Impl::Ask(std::size_t shard) {
  SampledShard& peer = *shards_[shard];
  PolicyVersion current;
  std::size_t held = peer.outstanding;
  std::size_t demanded = 0;
  proto::SampleRequest request;
  {
    const runtime::MutexLock lock(mutex_);
    current = current_;
    held += queued_of_[shard];
    const bool more = peer.live && updates_.MoveTo(request, shard);
    if (more) has_work_ = true;
    if (options_.on_demand) {
      demanded = more || !peer.live ? 0 : wanted_ - std::min(wanted_, held);
      *request.mutable_after_round() = played_;
    }
  }
  peer.Ask(std::move(request), options_.on_demand ? demanded : Wanted(shard, held), current,
           clock_.Now());
}

void Sampler::Impl::TellForgotten() {
  const std::vector<content::ContentKey> keys = sink_.TakeForgotten();
  if (keys.empty()) return;
  std::vector<std::string> bytes;
  for (const content::ContentKey& key : keys) bytes.emplace_back(key.AsBytes());
  // A stream that is opened later is given everything anyway.
  for (const auto& shard : shards_) {
    if (shard->link.open()) shard->Forget(bytes);
  }
  Wake();
}

void Sampler::Impl::Queue(std::size_t shard, IncomingReply& incoming, int index) {
  SampledUnroll out;
  const proto::SampledItem& item = incoming.reply.items(index);
  const proto::Item& source = item.item();
  SampledShard& peer = *shards_[shard];
  const absl::Status status =
      TakeWholeUnroll(incoming, index, peer.ring.reader(), peer.chunks, out.unroll);
  if (!status.ok()) {
    CountInvalid(status);
    return;
  }
  out.oldest_version = source.oldest_version();
  out.newest_version = source.newest_version();
  out.steps = source.steps();
  out.priority = source.priority();
  out.probability = item.probability();
  out.table_size = item.table_size();
  if (masses_.Has(shard)) {
    const ShardMasses::Odds odds = masses_.Of(shard, item.probability());
    out.probability = odds.probability;
    out.least_probability = odds.least_probability;
    out.table_size = odds.size;
  }
  out.times_sampled = item.times_sampled();
  out.shard = shard;
  received_.Increment();
  const std::uint64_t shared_bytes = source.shared_payload().bytes();
  shared_.Increment(static_cast<double>(shared_bytes));
  const runtime::MutexLock lock(mutex_);
  ++stats_.received_total;
  stats_.shared_bytes_total += shared_bytes;
  ++queued_of_[shard];
  wait_.reset();
  queue_.push_back(std::move(out));
  queued_.Set(static_cast<double>(queue_.size()));
  not_empty_.NotifyOne();
}

void Sampler::Impl::CountInvalid(const absl::Status& reason) {
  spdlog::warn("event=sample_refused reason={}", runtime::Quoted(reason.ToString()));
  dropped_invalid_.Increment();
  const runtime::MutexLock lock(mutex_);
  ++stats_.dropped_invalid_total;
}

void Sampler::Impl::SetLive(std::size_t shard, bool live) {
  shards_[shard]->live = live;
  SetLeftOut(*shards_[shard], false);
  const runtime::MutexLock lock(mutex_);
  live ? ++stats_.live_shards : --stats_.live_shards;
  if (live) refusal_.clear();
  if (!live && wait_ && wait_->shard == shard) wait_.reset();
  live_.Set(static_cast<double>(stats_.live_shards));
}

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sampler::~Sampler() = default;

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(SamplerOptions options, ContentSink& sink,
                                                         runtime::Metrics& metrics,
                                                         runtime::Clock& clock) {
  SHOAL_ASSIGN_OR_RETURN(
      transport::AddressList list,
      transport::AddressList::Create(options.addresses, options.address_file, "replay shard"));
  if (list.addresses().empty()) {
    return runtime::InvalidArgument("there is no replay shard to sample from");
  }
  if (options.table.empty()) return runtime::InvalidArgument("there is no table to sample from");
  if (options.on_demand && list.addresses().size() > 1) {
    return runtime::InvalidArgument("sampling on demand needs one replay shard, there are " +
                                    std::to_string(list.addresses().size()));
  }
  if (!options.signature.empty()) {
    SHOAL_RETURN_IF_ERROR(Signature::Parse(options.signature).status());
  }
  return std::unique_ptr<Sampler>(new Sampler(
      std::make_unique<Impl>(std::move(options), std::move(list), sink, metrics, clock)));
}

absl::StatusOr<SampledUnroll> Sampler::Next(std::chrono::milliseconds timeout) {
  return impl_->Next(timeout);
}
void Sampler::Want(std::size_t count, const proto::PolicyVersion& played) {
  impl_->Want(count, played);
}
absl::Status Sampler::UpdatePriorities(std::span<const PriorityUpdate> updates) {
  return impl_->UpdatePriorities(updates);
}
void Sampler::SetCurrentVersion(const proto::PolicyVersion& version) {
  impl_->SetCurrentVersion(version);
}
void Sampler::Close() { impl_->Close(); }
SamplerStats Sampler::stats() const { return impl_->stats(); }

}  // namespace shoal::replay::client
