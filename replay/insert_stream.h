// SPDX-License-Identifier: Apache-2.0
// The shard's end of one Insert stream takes contents and items, and acknowledges each item.
//
// What is full pushes back: an item that has no room, or whose contents have none, is answered
// RESOURCE_EXHAUSTED, and the stream gives no credit until there is room again. It lives and locks
// as transport::ServerStream says; `mutex_` is taken before the stream's own, never after.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "platform/runtime/mutex.h"
#include "platform/transport/server_stream.h"
#include "proto/replay.pb.h"
#include "replay/shard.h"
#include "replay/waiters.h"

namespace shoal::replay {

struct InsertStreamOptions {
  std::size_t max_item_bytes = std::size_t{16} << 20;
  std::size_t credit = 32;
};

class InsertStream final : public transport::ServerStream<proto::InsertRequest, proto::InsertReply>,
                           public Waiter {
 public:
  // The references outlive the stream.
  InsertStream(const InsertStreamOptions& options, Shard& shard, Waiters& streams,
               transport::StreamRegistry& registry)
      : ServerStream({}, registry), options_(options), shard_(shard), streams_(streams) {}

  // Gives credit where it ran out and there is room again.
  void Wake() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void OnMessage(proto::InsertRequest&& request) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd() override { streams_.Remove(this); }

  absl::Status Greet(const proto::InsertRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutContents(const proto::InsertRequest& request);
  // Writes to `answer` which keys the shard lacks, where that is why the item is not stored.
  absl::Status Insert(proto::Item& item, proto::ItemStatus& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(proto::InsertRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns how many items the client may send now, which is this stream's share of the room.
  std::uint32_t Credit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const InsertStreamOptions options_;
  Shard& shard_;
  Waiters& streams_;

  runtime::Mutex mutex_;
  bool greeted_ ABSL_GUARDED_BY(mutex_) = false;
  std::string client_ ABSL_GUARDED_BY(mutex_);
  // The tables that items of this stream named.
  std::set<std::string> tables_ ABSL_GUARDED_BY(mutex_);
  // True when the last reply gave no credit.
  bool starved_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace shoal::replay
