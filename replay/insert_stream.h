// SPDX-License-Identifier: Apache-2.0
// The shard's end of one Insert stream. It takes contents and items, and acknowledges each item.
//
// Back pressure: an item is answered RESOURCE_EXHAUSTED if the table has no room for it or the
// shard none for its contents, and the stream then gives no credit until there is room again.
// Streams that wait get room in turn, in the order in which they have waited: room is promised to
// the one whose turn it is, and not given to others meanwhile.
// Durability: the answer to an item of a table with durability "always" is kept back until the
// shard's journal has the item on disk; answers to other items do not wait for it.
// Lifetime and locks are those of transport::ServerStream; `mutex_` is taken before the stream's
// own lock, never after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "platform/runtime/mutex.h"
#include "platform/transport/server_stream.h"
#include "proto/replay.pb.h"
#include "replay/promises.h"
#include "replay/shard.h"
#include "replay/shared_ring.h"
#include "replay/waiters.h"

namespace shoal::replay {

struct InsertStreamOptions {
  std::size_t max_item_bytes = std::size_t{16} << 20;
  std::size_t credit = 32;
};

class InsertStream final : public transport::ServerStream<proto::InsertRequest, proto::InsertReply>,
                           public Waiter {
 public:
  // `local` says that the client is on this host, so that it may have a ring. The references must
  // outlive the stream.
  InsertStream(const InsertStreamOptions& options, bool local, Shard& shard, Waiters& streams,
               Promises& promises, transport::StreamRegistry& registry)
      : ServerStream({}, registry),
        options_(options),
        local_(local),
        shard_(shard),
        streams_(streams),
        promises_(promises) {}

  // Sends the answers that were kept back and may leave. Gives credit if the stream has run out of
  // it and there is room again.
  void Wake() override ABSL_LOCKS_EXCLUDED(mutex_);
  // The tables that it has named, while it has no credit.
  std::set<std::string> WaitsFor() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void OnMessage(proto::InsertRequest&& request) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd() override;

  absl::Status Greet(const proto::InsertRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OpenRing(const proto::RingAddress& address) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Copies a payload from the client's ring into the item.
  absl::Status FetchPayload(proto::Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutContents(proto::InsertRequest& request);
  absl::Status TakeSignatures(const proto::InsertRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Checks that the item's table takes its signature.
  absl::Status CheckSignature(const proto::Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the missing keys to `answer` if the item is not stored because the shard lacks contents.
  absl::Status Insert(proto::Item& item, proto::ItemStatus& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(proto::InsertRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendWithCredit(proto::InsertReply&& reply, std::uint32_t credit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the tables that items of this stream named, or all before the first one.
  std::set<std::string> Tables() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns how many items `table` takes from this stream now, without what others are promised.
  std::size_t RoomIn(const std::string& table) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns how many items the client may send now: this stream's share of the least room of all
  // tables that its items have named, since the next item may be for any of them.
  std::uint32_t Credit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const InsertStreamOptions options_;
  const bool local_;
  Shard& shard_;
  Waiters& streams_;
  Promises& promises_;

  runtime::Mutex mutex_;
  bool greeted_ ABSL_GUARDED_BY(mutex_) = false;
  std::string client_ ABSL_GUARDED_BY(mutex_);
  // Null where payloads come in messages.
  std::unique_ptr<RingReader> ring_ ABSL_GUARDED_BY(mutex_);
  // The tables that items of this stream named.
  std::set<std::string> tables_ ABSL_GUARDED_BY(mutex_);
  // What was stated on this stream, by key, and which table has taken which of them.
  std::map<std::string, Signature, std::less<>> signatures_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<std::string, std::string>> admitted_ ABSL_GUARDED_BY(mutex_);
  // Answers that are kept back, each with the position that has to be durable.
  std::deque<std::pair<std::uint64_t, proto::ItemStatus>> held_ ABSL_GUARDED_BY(mutex_);
  // True when the last reply gave no credit.
  bool starved_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace shoal::replay
