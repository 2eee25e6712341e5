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
  Close();
  if (!IsOnThisHost(shard)) return;
  std::erase_if(earlier_, [](const auto& ring) { return ring.expired(); });
  if (earlier_.size() >= kMostEarlier) {
    Report(shard, runtime::ResourceExhausted("items that are not acknowledged keep those of " +
                                             std::to_string(kMostEarlier) + " earlier streams"));
    return;
  }
  auto made = BlockRing::Create(kRingBytes);
  if (!made.ok()) {
    Report(shard, made.status());
    return;
  }
  blocks_ = *std::move(made);
  *hello.mutable_ring() = blocks_->address();
}

void InsertRing::Follow(const proto::InsertReply& reply) {
  reads_ = reads_ || (blocks_ != nullptr && reply.welcome().reads_ring());
}

void InsertRing::Close() {
  if (blocks_ != nullptr) {
    blocks_->Close();
    earlier_.push_back(blocks_);
  }
  blocks_ = nullptr;
  reads_ = false;
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
