// SPDX-License-Identifier: Apache-2.0
#include "replay/client/sampler.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "platform/transport/address_list.h"
#include "platform/transport/protocol.h"
#include "replay/client/chunk_reader.h"
#include "replay/client/incoming_reply.h"
#include "replay/client/link.h"
#include "replay/client/priority_outbox.h"
#include "replay/client/shard_masses.h"
#include "replay/client/silence.h"
#include "replay/client/stream_ring.h"
#include "replay/signature.h"
#include "replay/wire.h"

namespace shoal::replay::client {
namespace {

// The most forgotten keys that one message carries.
constexpr std::size_t kKeysInMessage = 16384;

// Small messages are not worth their cost.
bool IsWorthAsking(std::size_t wanted, std::size_t most) {
  return wanted >= std::max<std::size_t>(1, most / 4);
}

using SampleLink = Link<proto::SampleRequest, IncomingReply>;

}  // namespace

class Sampler::Impl {
 public:
  Impl(SamplerOptions options, transport::AddressList list, ContentSink& sink,
       runtime::Metrics& metrics, runtime::Clock& clock);
  ~Impl();

  absl::StatusOr<SampledUnroll> Next(std::chrono::milliseconds timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status UpdatePriorities(std::span<const PriorityUpdate> updates)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void SetCurrentVersion(const proto::PolicyVersion& version) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  SamplerStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Used by the sampler's thread only, without a lock.
  struct Worker {
    Worker(const std::string& address, std::function<void()> wake)
        : address(address), link(address, "Sample", "learner", std::move(wake)) {}
    const std::string address;
    SampleLink link;
    SampleRing ring;
    // The chunks that came on this stream.
    ChunkReader chunks{{}};
    bool live = false;
    // True once the list of addresses names it no longer.
    bool removed = false;
    // Credit that the shard was given and has not used.
    std::size_t outstanding = 0;
    // Credit that was drawn for the shard and is to be sent.
    std::size_t drawn = 0;
    // True if its table draws at random, so that its credit is drawn.
    bool by_mass = false;
    Silence silence;
    // True while it has credit, gives nothing, and is left out of the draws.
    bool left_out = false;
    PolicyVersion told;
    // The steps that its table had taken in when it told of it last.
    std::optional<std::uint64_t> inserted_steps;
    // The keys of contents to be reported as forgotten on this stream.
    std::deque<std::string> forgotten;
    // How many keys were ever put there on this stream.
    std::uint64_t forgotten_total = 0;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes workers for new addresses, and ends the streams to those that are gone.
  void FollowAddresses() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes a worker for the next shard that the list has named.
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
  void CountInserted(Worker& worker, std::uint64_t steps) ABSL_LOCKS_EXCLUDED(mutex_);
  void TakeMass(std::size_t shard, const proto::SampleReply& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  // Shares out free credit among the shards whose tables draw at random.
  void Draw() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the credit that no shard has and no queued item stands for.
  std::size_t FreeCredit() const ABSL_LOCKS_EXCLUDED(mutex_);
  void LeaveOutSilent() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns true if the learner waits while shards that give nothing have all credit.
  bool IsHeldUp() const ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLeftOut(Worker& worker, bool left_out) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the credit that the shard is to be given now. `held` is what it has, and what is queued
  // of it.
  std::size_t Wanted(std::size_t shard, std::size_t held) const;
  void Ask(std::size_t shard) ABSL_LOCKS_EXCLUDED(mutex_);
  void TellForgotten();
  void TellForgottenChunks(Worker& worker) ABSL_LOCKS_EXCLUDED(mutex_);
  void Queue(std::size_t shard, IncomingReply& incoming, int index) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountInvalid(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLive(std::size_t shard, bool live) ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);

  const SamplerOptions options_;
  ContentSink& sink_;
  runtime::Clock& clock_;
  // Used by the sampler's thread only. Workers are in the order of list_.ever_named().
  transport::AddressList list_;
  std::vector<std::unique_ptr<Worker>> workers_;
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
  // For what a shard waits that said so last. Empty once one gives.
  std::string wait_ ABSL_GUARDED_BY(mutex_);
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
  while (workers_.size() < list_.ever_named().size()) AddShard();
  thread_ = runtime::Thread("replay-sample", [this] { Run(); });
}

void Sampler::Impl::AddShard() {
  const std::string& address = list_.ever_named()[workers_.size()];
  spdlog::info("event=replay_shard_added address={}", address);
  workers_.push_back(std::make_unique<Worker>(address, [this] { Wake(); }));
  masses_.Add();
  const runtime::MutexLock lock(mutex_);
  queued_of_.push_back(0);
  updates_.AddShard();
}

void Sampler::Impl::FollowAddresses() {
  if (!list_.Refresh(clock_.Now())) return;
  for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
    SetRemoved(shard, !list_.Names(shard));
  }
  while (workers_.size() < list_.ever_named().size()) AddShard();
}

void Sampler::Impl::SetRemoved(std::size_t shard, bool removed) {
  Worker& worker = *workers_[shard];
  if (std::exchange(worker.removed, removed) == removed) return;
  if (!removed) {
    spdlog::info("event=replay_shard_added address={}", worker.address);
    return;
  }
  spdlog::info("event=replay_shard_removed address={} items_on_their_way={}", worker.address,
               worker.outstanding);
  worker.link.Close();
  worker.ring = {};
  if (worker.live) SetLive(shard, false);
  worker.by_mass = false;
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
    while (!closed_ && queue_.empty()) {
      if (!clock_.WaitUntil(not_empty_, mutex_, deadline)) break;
    }
    if (closed_) return runtime::Cancelled("the sampler is closed");
    if (queue_.empty()) {
      return absl::DeadlineExceededError("no unroll came in " + std::to_string(timeout.count()) +
                                         " ms" + (refusal_.empty() ? wait_ : ": " + refusal_));
    }
    SampledUnroll unroll = std::move(queue_.front());
    queue_.pop_front();
    queued_.Set(static_cast<double>(queue_.size()));
    --queued_of_[unroll.shard];
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
    for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
      if (!workers_[shard]->removed) Step(shard);
    }
    Draw();
    for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
      if (workers_[shard]->link.open()) Ask(shard);
    }
  }
  for (auto& worker : workers_) worker->link.Close();
}

void Sampler::Impl::Step(std::size_t shard) {
  Worker& worker = *workers_[shard];
  Receive(shard);
  TellForgotten();
  TellForgottenChunks(worker);
  if (!worker.link.MayOpen(clock_.Now())) return;
  proto::SampleRequest request;
  proto::SampleHello& hello = *request.mutable_hello();
  hello.set_protocol_version(transport::kProtocolVersion);
  hello.set_client(options_.client);
  hello.set_table(options_.table);
  hello.set_max_lag(options_.max_lag);
  hello.set_group_epoch(options_.group_epoch);
  hello.set_rank(options_.rank);
  hello.set_world(options_.world);
  hello.set_signature(options_.signature);
  if (options_.shares_memory) worker.ring.Ask(worker.address, hello);
  worker.link.Open(std::move(request));
  worker.outstanding = worker.drawn = 0;
  worker.told = {};
  worker.forgotten.clear();
  worker.forgotten_total = 0;
  worker.chunks.Clear();
}

void Sampler::Impl::Receive(std::size_t shard) {
  Worker& worker = *workers_[shard];
  for (IncomingReply& incoming : worker.link.TakeReplies()) {
    if (!worker.live) SetLive(shard, true);
    if (TakeReply(shard, incoming)) continue;
    worker.link.Cancel();
    break;
  }
  if (const auto end = worker.link.TakeEnd(clock_.Now())) {
    if (worker.live || !absl::IsUnavailable(*end)) {
      spdlog::warn("event=sample_stream_end reason={}", runtime::Quoted(end->ToString()));
    }
    if (absl::IsFailedPrecondition(*end)) {
      const runtime::MutexLock lock(mutex_);
      refusal_ = runtime::Message(*end);
    }
    if (worker.live) SetLive(shard, false);
    worker.by_mass = false;
    masses_.Set(shard, std::nullopt);
  }
}

bool Sampler::Impl::TakeReply(std::size_t shard, IncomingReply& incoming) {
  proto::SampleReply& reply = incoming.reply;
  Worker& worker = *workers_[shard];
  if (static_cast<std::size_t>(reply.items_size()) > worker.outstanding) {
    CountInvalid(runtime::InvalidArgument(
        "shard " + worker.address + " sent " + std::to_string(reply.items_size()) +
        " items with credit for " + std::to_string(worker.outstanding)));
    return false;
  }
  worker.ring.Open(reply.welcome());
  worker.chunks.Heard(reply.forgotten_total());
  DeliverContents(reply, sink_, [this](const absl::Status& status) { CountInvalid(status); });
  for (proto::Chunk& chunk : *reply.mutable_chunks()) {
    if (const auto status = worker.chunks.Add(std::move(chunk)); !status.ok()) CountInvalid(status);
  }
  if (reply.items_size() > 0) {
    worker.silence.Begin(clock_.Now());
    SetLeftOut(worker, false);
    CountInserted(worker, reply.inserted_steps());
  } else if (!reply.wait().empty()) {
    worker.silence.Waits(reply.wait(), clock_.Now());
    const runtime::MutexLock lock(mutex_);
    wait_ = ": shard " + worker.address + " waits for " + reply.wait();
  }
  // The items were drawn from what the shard held before, if that is known.
  if (!masses_.Has(shard)) TakeMass(shard, reply);
  for (int index = 0; index < reply.items_size(); ++index) {
    --worker.outstanding;
    Queue(shard, incoming, index);
  }
  TakeMass(shard, reply);
  return true;
}

void Sampler::Impl::CountInserted(Worker& worker, std::uint64_t steps) {
  const std::uint64_t before = worker.inserted_steps.value_or(steps);
  // A shard that restarted counts from 0 again.
  const std::uint64_t more = steps >= before ? steps - before : steps;
  worker.inserted_steps = steps;
  const runtime::MutexLock lock(mutex_);
  stats_.inserted_steps_total += more;
}

void Sampler::Impl::TakeMass(std::size_t shard, const proto::SampleReply& reply) {
  if (!reply.has_mass()) return;
  Worker& worker = *workers_[shard];
  worker.by_mass = true;
  const absl::StatusOr<Mass> mass = FromProto(reply.mass());
  if (!mass.ok()) {
    CountInvalid(mass.status());
  } else if (!worker.left_out) {
    masses_.Set(shard, *mass);
  }
}

void Sampler::Impl::Draw() {
  LeaveOutSilent();
  if (masses_.Total().size == 0) return;
  const std::size_t wanted = FreeCredit();
  if (!IsWorthAsking(wanted, prefetch())) return;
  for (std::size_t i = 0; i < wanted; ++i) ++workers_[masses_.Draw()]->drawn;
}

std::size_t Sampler::Impl::FreeCredit() const {
  std::size_t held = 0;
  for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
    if (masses_.Has(shard)) held += workers_[shard]->drawn + workers_[shard]->outstanding;
  }
  const runtime::MutexLock lock(mutex_);
  held += queue_.size();
  return prefetch() - std::min(prefetch(), held);
}

bool Sampler::Impl::IsHeldUp() const {
  bool others = false;
  for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
    const Worker& worker = *workers_[shard];
    others = others || (masses_.Has(shard) && worker.outstanding + worker.drawn == 0);
  }
  if (!others || IsWorthAsking(FreeCredit(), prefetch())) return false;
  const runtime::MutexLock lock(mutex_);
  return queue_.empty();
}

void Sampler::Impl::LeaveOutSilent() {
  const runtime::TimePoint now = clock_.Now();
  for (std::size_t shard = 0; shard < workers_.size(); ++shard) {
    Worker& worker = *workers_[shard];
    if (!masses_.Has(shard) || worker.outstanding == 0 || !worker.silence.lasts(now)) continue;
    const bool waits = worker.silence.explained(now);
    if (waits && !IsHeldUp()) continue;
    if (!waits) {
      spdlog::warn("event=replay_shard_silent address={} credit={}", worker.address,
                   worker.outstanding);
    }
    masses_.Set(shard, std::nullopt);
    worker.drawn = 0;
    SetLeftOut(worker, true);
  }
}

void Sampler::Impl::SetLeftOut(Worker& worker, bool left_out) {
  if (std::exchange(worker.left_out, left_out) == left_out) return;
  const runtime::MutexLock lock(mutex_);
  left_out ? ++stats_.left_out_shards : --stats_.left_out_shards;
}

std::size_t Sampler::Impl::Wanted(std::size_t shard, std::size_t held) const {
  if (workers_[shard]->by_mass) return workers_[shard]->drawn;
  const std::size_t wanted = share() - std::min(share(), held);
  return workers_[shard]->live && IsWorthAsking(wanted, share()) ? wanted : 0;
}

void Sampler::Impl::Ask(std::size_t shard) {
  Worker& worker = *workers_[shard];
  PolicyVersion current;
  std::size_t held = worker.outstanding;
  proto::SampleRequest request;
  {
    const runtime::MutexLock lock(mutex_);
    current = current_;
    held += queued_of_[shard];
    if (worker.live && updates_.MoveTo(request, shard)) has_work_ = true;
  }
  for (std::size_t i = 0; i < kKeysInMessage && !worker.forgotten.empty(); ++i) {
    request.add_forgotten_keys(std::move(worker.forgotten.front()));
    worker.forgotten.pop_front();
  }
  request.set_credit(static_cast<std::uint32_t>(Wanted(shard, held)));
  const bool news = worker.told < current;
  if (news) {
    request.mutable_current_version()->set_epoch(current.epoch);
    request.mutable_current_version()->set_step(current.step);
  }
  const bool tells_ring = worker.ring.Tell(request);
  if (request.credit() == 0 && !news && !tells_ring && request.priorities_size() == 0 &&
      request.forgotten_keys_size() == 0) {
    return;
  }
  worker.ring.Told(request);
  const std::uint32_t credit = request.credit();
  if (!worker.link.Send(std::move(request))) return;
  if (worker.outstanding == 0) worker.silence.Begin(clock_.Now());
  worker.outstanding += credit;
  worker.drawn -= std::min<std::size_t>(worker.drawn, credit);
  worker.told = current;
}

void Sampler::Impl::TellForgotten() {
  const std::vector<content::ContentKey> keys = sink_.TakeForgotten();
  if (keys.empty()) return;
  // A stream that is opened later is given everything anyway.
  for (const auto& worker : workers_) {
    if (!worker->link.open()) continue;
    for (const content::ContentKey& key : keys) worker->forgotten.emplace_back(key.AsBytes());
    worker->forgotten_total += keys.size();
  }
  Wake();
}

void Sampler::Impl::TellForgottenChunks(Worker& worker) {
  std::vector<std::string> keys =
      worker.chunks.Leave(options_.chunk_bytes / list_.addresses().size(), worker.forgotten_total);
  if (keys.empty()) return;
  worker.forgotten_total += keys.size();
  std::move(keys.begin(), keys.end(), std::back_inserter(worker.forgotten));
  Wake();
}

void Sampler::Impl::Queue(std::size_t shard, IncomingReply& incoming, int index) {
  SampledUnroll out;
  const proto::SampledItem& item = incoming.reply.items(index);
  const proto::Item& source = item.item();
  Worker& worker = *workers_[shard];
  const absl::Status status =
      TakeWholeUnroll(incoming, index, worker.ring.reader(), worker.chunks, out.unroll);
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
  wait_.clear();
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
  workers_[shard]->live = live;
  SetLeftOut(*workers_[shard], false);
  const runtime::MutexLock lock(mutex_);
  live ? ++stats_.live_shards : --stats_.live_shards;
  if (live) refusal_.clear();
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
  if (!options.signature.empty()) {
    SHOAL_RETURN_IF_ERROR(Signature::Parse(options.signature).status());
  }
  return std::unique_ptr<Sampler>(new Sampler(
      std::make_unique<Impl>(std::move(options), std::move(list), sink, metrics, clock)));
}

absl::StatusOr<SampledUnroll> Sampler::Next(std::chrono::milliseconds timeout) {
  return impl_->Next(timeout);
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
