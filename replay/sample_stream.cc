// SPDX-License-Identifier: Apache-2.0
#include "replay/sample_stream.h"

#include <algorithm>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/transport/protocol.h"
#include "replay/wire.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kWaitingMessages = 2;
constexpr std::uint64_t kBatchItems = 16;
constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 20;

}  // namespace

void SampleStream::OnMessage(proto::SampleRequest&& request) {
  {
    const runtime::MutexLock lock(mutex_);
    const absl::Status greeting = reader_ >= 0 || ended_ ? absl::OkStatus() : Greet(request);
    if (greeting.ok() && !ended_) {
      if (request.has_current_version()) {
        shard_.SetCurrentVersion(table_, FromProto(request.current_version()), max_lag_);
      }
      credit_ = std::min(kMaxCredit, credit_ + request.credit());
      GiveLocked();
    } else if (!greeting.ok()) {
      Fail(greeting);
    }
  }
  Release();
}

absl::Status SampleStream::Greet(const proto::SampleRequest& request) {
  if (!request.has_hello()) {
    return runtime::InvalidArgument("the first message of Sample has no hello");
  }
  SHOAL_RETURN_IF_ERROR(transport::CheckProtocolVersion(request.hello().protocol_version()));
  if (!shard_.HasTable(request.hello().table())) {
    return runtime::FailedPrecondition("no table is named " + request.hello().table());
  }
  SHOAL_ASSIGN_OR_RETURN(reader_, shard_.OpenReader());
  table_ = request.hello().table();
  max_lag_ = request.hello().max_lag();
  spdlog::info("event=sample_stream_open client={} table={}",
               runtime::Quoted(request.hello().client()), runtime::Quoted(table_));
  return absl::OkStatus();
}

void SampleStream::Wake() {
  const runtime::MutexLock lock(mutex_);
  GiveLocked();
}

void SampleStream::GiveLocked() {
  while (reader_ >= 0 && credit_ > 0 && outbox_size() < kWaitingMessages && !ending()) {
    SampleBatch batch = shard_.Draw(table_, reader_, std::min(credit_, kBatchItems), kMessageBytes);
    if (batch.samples.empty()) return;
    credit_ -= batch.samples.size();
    for (proto::SampleReply& reply : ToReplies(batch)) Send(std::move(reply));
  }
}

void SampleStream::OnEnd() {
  streams_.Remove(this);
  const runtime::MutexLock lock(mutex_);
  ended_ = true;
  if (reader_ >= 0) shard_.CloseReader(std::exchange(reader_, -1));
}

}  // namespace shoal::replay
