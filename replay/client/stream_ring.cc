// SPDX-License-Identifier: Apache-2.0
#include "replay/client/stream_ring.h"

#include <utility>

#include "platform/runtime/log.h"

namespace shoal::replay::client {
namespace {

bool IsOnThisHost(const std::string& shard) { return shard.starts_with("unix:"); }

void Report(const std::string& shard, const absl::Status& status) {
  spdlog::warn("event=ring_refused address={} reason={}", shard,
               runtime::Quoted(runtime::Message(status)));
}

}  // namespace

void InsertRing::Offer(const std::string& shard, proto::InsertHello& hello) {
  *this = {};
  if (!IsOnThisHost(shard)) return;
  auto writer = RingWriter::Create(kRingBytes);
  if (!writer.ok()) {
    Report(shard, writer.status());
    return;
  }
  writer_ = *std::move(writer);
  *hello.mutable_ring() = writer_->address();
}

absl::Status InsertRing::Follow(const proto::InsertReply& reply) {
  if (writer_ == nullptr) return absl::OkStatus();
  reads_ = reads_ || reply.welcome().reads_ring();
  return reads_ ? writer_->Free(reply.ring_position()) : absl::OkStatus();
}

std::uint64_t InsertRing::TakeShared() {
  if (writer_ == nullptr) return 0;
  const std::uint64_t total = writer_->written_total();
  return total - std::exchange(taken_, total);
}

void SampleRing::Ask(const std::string& shard, proto::SampleHello& hello) {
  *this = {};
  shard_ = shard;
  asked_ = IsOnThisHost(shard);
  hello.set_wants_ring(asked_);
}

void SampleRing::Open(const proto::SampleWelcome& welcome) {
  if (!asked_ || !welcome.has_ring()) return;
  asked_ = false;
  auto reader = RingReader::Open(welcome.ring());
  if (reader.ok()) {
    reader_ = *std::move(reader);
  } else {
    Report(shard_, reader.status());
  }
}

bool SampleRing::Tell(proto::SampleRequest& request) const {
  if (reader_ == nullptr) return false;
  request.set_reads_ring(true);
  request.set_ring_position(reader_->position());
  return !told_ || reader_->position() - told_position_ >= reader_->capacity() / 4;
}

void SampleRing::Told(const proto::SampleRequest& request) {
  told_ = request.reads_ring();
  told_position_ = request.ring_position();
}

}  // namespace shoal::replay::client
