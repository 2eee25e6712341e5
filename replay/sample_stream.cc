// SPDX-License-Identifier: Apache-2.0
#include "replay/sample_stream.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "platform/transport/protocol.h"
#include "replay/wire.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kWaitingMessages = 2;
constexpr std::size_t kHeldBatches = 16;
constexpr std::uint64_t kBatchItems = 16;
// After this time payloads that could not be read are tried again.
constexpr std::chrono::milliseconds kReadRetry(100);
constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 20;
// How often a client that has credit hears what the table waits for.
constexpr std::chrono::milliseconds kTellWait(500);
// A smaller change of a table's mass, as a share of it, is not told by itself.
constexpr double kChange = 0.05;

bool Differ(const Mass& a, const Mass& b) {
  const auto apart = [](double x, double y) {
    return (x > 0) != (y > 0) || std::abs(x - y) > kChange * x;
  };
  return apart(static_cast<double>(a.size), static_cast<double>(b.size)) || apart(a.sum, b.sum) ||
         apart(a.least, b.least);
}

}  // namespace

void SampleStream::OnMessage(grpc::ByteBuffer&& message) {
  proto::SampleRequest request;
  grpc::ProtoBufferReader reader(&message);
  const bool sound = request.ParseFromZeroCopyStream(&reader);
  {
    const runtime::MutexLock lock(mutex_);
    absl::Status status;
    if (!sound) status = runtime::InvalidArgument("the message is no SampleRequest");
    if (status.ok() && !ended_) status = Take(request);
    if (!status.ok()) Fail(status);
  }
  Release();
}

absl::Status SampleStream::Take(const proto::SampleRequest& request) {
  if (reader_ < 0) SHOAL_RETURN_IF_ERROR(Greet(request));
  SHOAL_RETURN_IF_ERROR(FollowRing(request));
  SHOAL_ASSIGN_OR_RETURN(const auto updates, FromProto(request.priorities()));
  SHOAL_ASSIGN_OR_RETURN(const auto forgotten,
                         KeysFrom(request.forgotten_keys(), "forgotten_keys"));
  if (request.has_current_version()) {
    shard_.SetCurrentVersion(table_, FromProto(request.current_version()), max_lag_);
  }
  shard_.Update(table_, updates);
  shard_.Forget(reader_, forgotten);
  forgotten_total_ += forgotten.size();
  if (credit_ == 0) heard_ = runtime::SystemClock().Now();
  credit_ = std::min(kMaxCredit, credit_ + request.credit());
  if (request.has_after_round()) after_round_ = FromProto(request.after_round());
  AskLocked();
  return absl::OkStatus();
}

absl::Status SampleStream::Greet(const proto::SampleRequest& request) {
  if (!request.has_hello()) {
    return runtime::InvalidArgument("the first message of Sample has no hello");
  }
  const proto::SampleHello& hello = request.hello();
  SHOAL_RETURN_IF_ERROR(
      transport::CheckProtocolVersion(hello.protocol_version(), hello.client(), "replay shard"));
  if (!shard_.HasTable(hello.table())) {
    return runtime::FailedPrecondition("no table is named " + hello.table());
  }
  if (hello.rank() >= hello.world()) {
    return runtime::InvalidArgument("hello: rank " + std::to_string(hello.rank()) + " of " +
                                    std::to_string(hello.world()));
  }
  SHOAL_RETURN_IF_ERROR(shard_.JoinGroup(hello.table(), hello.group_epoch()));
  table_ = hello.table();
  if (!hello.signature().empty()) {
    SHOAL_ASSIGN_OR_RETURN(expected_, Signature::Parse(hello.signature()));
    SHOAL_RETURN_IF_ERROR(CheckExpected());
  }
  SHOAL_ASSIGN_OR_RETURN(reader_, shard_.OpenReader());
  max_lag_ = hello.max_lag();
  group_epoch_ = hello.group_epoch();
  spdlog::info("event=sample_stream_open client={} table={} group_epoch={} rank={} world={}",
               runtime::Quoted(hello.client()), runtime::Quoted(table_), hello.group_epoch(),
               hello.rank(), hello.world());
  proto::SampleReply reply;
  reply.mutable_welcome()->set_protocol_version(transport::kProtocolVersion);
  if (local_ && hello.wants_ring()) OfferRing(*reply.mutable_welcome());
  tells_mass_ = shard_.DrawsAtRandom(table_);
  if (tells_mass_) {
    told_ = shard_.MassOf(table_);
    *reply.mutable_mass() = ToProto(told_);
  }
  Send(Encode({.message = std::move(reply)}));
  return absl::OkStatus();
}

void SampleStream::OfferRing(proto::SampleWelcome& welcome) {
  auto ring = RingWriter::Create(kRingBytes);
  if (!ring.ok()) {
    spdlog::warn("event=ring_refused reason={}", runtime::Quoted(runtime::Message(ring.status())));
    return;
  }
  ring_ = *std::move(ring);
  *welcome.mutable_ring() = ring_->address();
}

absl::Status SampleStream::FollowRing(const proto::SampleRequest& request) {
  if (ring_ == nullptr || !request.reads_ring()) return absl::OkStatus();
  reads_ring_ = true;
  return ring_->Free(request.ring_position());
}

absl::Status SampleStream::CheckExpected() {
  if (!expected_) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const bool compared, shard_.CheckReader(table_, *expected_));
  if (compared) expected_.reset();
  return absl::OkStatus();
}

void SampleStream::OnWritable() {
  const runtime::MutexLock lock(mutex_);
  SendHeldLocked();
  AskLocked();
}

void SampleStream::AskLocked() {
  if (reader_ >= 0 && credit_ > 0 && streams_.OthersStandBefore(this, table_)) {
    streams_.Stand(this, table_);
    shard_.Notify();
  } else {
    GiveLocked();
  }
}

void SampleStream::Wake() {
  const runtime::MutexLock lock(mutex_);
  GiveLocked();
}

std::set<std::string> SampleStream::WaitsFor() {
  const runtime::MutexLock lock(mutex_);
  if (reader_ < 0 || credit_ == 0) return {};
  return {table_};
}

void SampleStream::GiveLocked() {
  if (reader_ < 0) return;
  absl::Status status = shard_.JoinGroup(table_, group_epoch_);
  if (status.ok()) status = CheckExpected();
  if (!status.ok()) {
    Fail(status);
    return;
  }
  SendHeldLocked();
  SampleLocked();
  if (!held_.empty() || outbox_size() >= kWaitingMessages || ending()) return;
  proto::SampleReply news;
  const bool forgotten = TellForgottenLocked(forgotten_total_, news);
  const bool mass = tells_mass_ && TellMassLocked(news);
  const bool wait = TellWaitLocked(news);
  if (forgotten || mass || wait) Send(Encode({.message = std::move(news)}));
}

bool SampleStream::WantsLocked() const {
  return credit_ > 0 && outbox_size() < kWaitingMessages && held_.size() < kHeldBatches;
}

void SampleStream::SampleLocked() {
  bool given = false;
  const bool ready =
      runtime::SystemClock().Now() >= retry_from_ && shard_.HasRoundOf(table_, after_round_);
  while (ready && WantsLocked() && !ending()) {
    SampleBatch batch =
        shard_.Sample(table_, reader_, std::min(credit_, kBatchItems), kMessageBytes);
    if (batch.samples.empty()) break;
    credit_ -= batch.samples.size();
    given = true;
    HoldLocked(std::move(batch));
    SendHeldLocked();
  }
  const bool wants_more = WantsLocked();
  if (given || !wants_more) streams_.Leave(this);
  if (wants_more) streams_.Stand(this, table_);
}

void SampleStream::HoldLocked(SampleBatch&& sampled) {
  auto batch = std::make_shared<SampleBatch>(std::move(sampled));
  const bool reading = batch->payloads != nullptr;
  held_.push_back({.batch = batch, .forgotten_total = forgotten_total_, .reading = reading});
  if (!reading) return;
  const auto self = shared_from_this();
  batch_reader_.Read(batch, [this, self, batch] { OnRead(batch); });
}

void SampleStream::OnRead(const std::shared_ptr<SampleBatch>& batch) {
  const std::size_t sampled = batch->samples.size();
  const bool unread = shard_.FinishReads(*batch);
  const runtime::MutexLock lock(mutex_);
  if (ended_) return;
  credit_ += sampled - batch->samples.size();
  for (Held& held : held_) {
    if (held.batch == batch) held.reading = false;
  }
  SendHeldLocked();
  if (unread) retry_from_ = runtime::SystemClock().Now() + kReadRetry;
  AskLocked();
}

void SampleStream::SendHeldLocked() {
  while (!held_.empty() && outbox_size() < kWaitingMessages && !held_.front().reading &&
         held_.front().batch->durable_at <= shard_.durable()) {
    Held held = std::move(held_.front());
    held_.pop_front();
    SendLocked(std::move(held));
  }
}

void SampleStream::SendLocked(Held held) {
  heard_ = runtime::SystemClock().Now();
  std::vector<Outgoing<proto::SampleReply>> replies = ToReplies(*held.batch);
  if (replies.empty()) replies.emplace_back();
  if (tells_mass_) told_ = held.batch->left;
  for (auto& reply : replies) {
    if (tells_mass_) *reply.message.mutable_mass() = ToProto(told_);
    reply.message.set_inserted_steps(held.batch->inserted_steps);
  }
  TellForgottenLocked(held.forgotten_total, replies.front().message);
  RingWriter* const ring = reads_ring_ ? ring_.get() : nullptr;
  for (auto& reply : replies) Send(Encode(std::move(reply), ring));
}

bool SampleStream::TellForgottenLocked(std::uint64_t total, proto::SampleReply& reply) {
  if (told_forgotten_ == total) return false;
  told_forgotten_ = total;
  reply.set_forgotten_total(told_forgotten_);
  return true;
}

bool SampleStream::TellMassLocked(proto::SampleReply& reply) {
  const Mass now = shard_.MassOf(table_);
  if (!Differ(told_, now)) return false;
  told_ = now;
  *reply.mutable_mass() = ToProto(now);
  return true;
}

bool SampleStream::TellWaitLocked(proto::SampleReply& reply) {
  const runtime::TimePoint now = runtime::SystemClock().Now();
  if (credit_ == 0 || now - heard_ < kTellWait) return false;
  const std::string_view wait = WaitLocked();
  if (wait.empty()) return false;
  heard_ = now;
  reply.set_wait(std::string(wait));
  return true;
}

std::string_view SampleStream::WaitLocked() const {
  return shard_.HasRoundOf(table_, after_round_) ? NameOf(shard_.SampleWait(table_)) : "round";
}

void SampleStream::OnEnd() {
  streams_.Remove(this);
  const runtime::MutexLock lock(mutex_);
  ended_ = true;
  held_.clear();
  if (reader_ >= 0) shard_.CloseReader(std::exchange(reader_, -1));
}

}  // namespace shoal::replay
