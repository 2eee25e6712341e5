// SPDX-License-Identifier: Apache-2.0
// An inserter sends items to the replay shards. It has one bounded outbox for each shard, and keeps
// an item until its shard acknowledges it.
//
// An item is placed once, on the live shard with the emptiest outbox, and stays with that shard. An
// item that has chunks goes to the shard of its environment if that one has room, because the
// environment's other items have chunks in common with it. A shard that comes or goes changes this
// shard for its share of the environments alone (platform/runtime/rendezvous_hashing.h).
// After a reconnect it is sent to the same shard again, which ignores an id that it has seen. Thus
// an item enters at most one table, and at most once. The items of a shard that stays away for
// longer than `lost_after` are dropped and counted, as are items that a shard refuses for good.
//
// Shards may be added and removed by a file of addresses. A removed shard is given no more items;
// the connection stays until it has acknowledged what it was given, or is lost.
//
// Thread-safe. Only Drain and the destructor block. The callback `on_space` runs on the inserter's
// own thread. When the outboxes are full, TryInsert returns an error and the item stays with the
// caller.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/transport/connector.h"
#include "proto/replay.pb.h"
#include "replay/client/chunked_item.h"
#include "replay/client/content_provider.h"

namespace shoal::replay::client {

struct InserterOptions {
  // "host:port", one for each shard.
  std::vector<std::string> addresses = {};
  // A file that names the shards in their place and is read again while the inserter lives
  // (platform/transport/address_list.h). Empty: there is none.
  std::string address_file = {};
  // The name of this process in a shard's log.
  std::string client = {};
  // The most items and bytes in one shard's outbox, including those sent and not yet acknowledged.
  std::size_t outbox_items = 256;
  std::size_t outbox_bytes = std::size_t{64} << 20;
  // An item larger than this is refused at once.
  std::size_t max_item_bytes = std::size_t{16} << 20;
  // A shard that is not connected for this long loses its items.
  std::chrono::milliseconds lost_after = std::chrono::seconds(60);
  // How the shards are reached. Shards of the same process need no sockets.
  transport::Connector connect = transport::OverSockets();
  // Whether large payloads go through shared memory where a shard's address is a socket in the file
  // system (replay/client/stream_ring.h).
  bool shares_memory = true;
};

struct InserterStats {
  std::uint64_t inserted_total = 0;
  std::uint64_t acknowledged_total = 0;
  // Counts items of a lost shard, refused items, and items whose contents were not found.
  std::uint64_t dropped_total = 0;
  // The bytes of payloads that went through shared memory, those that were sent again included.
  std::uint64_t shared_bytes_total = 0;
  // The bytes of payloads that were copied there when it was their turn, because there was no room
  // before, or because they were given as bytes.
  std::uint64_t copied_bytes_total = 0;
  // The number of items in the outboxes now.
  std::size_t waiting = 0;
  std::size_t live_shards = 0;
};

class Inserter {
 public:
  // Connects in the background; no shard needs to be up. `provider` and `metrics` must outlive the
  // inserter. Returns INVALID_ARGUMENT without addresses, and the errors of the file of addresses.
  static absl::StatusOr<std::unique_ptr<Inserter>> Create(
      InserterOptions options, ContentProvider& provider, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  // Drops the items that are not acknowledged.
  ~Inserter();

  // Takes an item whose unroll is whole, or one with its chunks, and returns OK. The item has its
  // payload, or `payload` is serialised in its place, for a shard on this host into the memory from
  // which it reads. With any other status the item is unchanged:
  //   RESOURCE_EXHAUSTED  every live outbox is full, or no shard is live: wait for `on_space`.
  //   INVALID_ARGUMENT    its payload or a chunk is larger than max_item_bytes, it has no id, table
  //                       or payload, or two payloads, its chunk_keys do not name its chunks, or it
  //                       names a signature that was not stated.
  //   CANCELLED           the inserter is draining.
  // content_keys names only the contents of the rows: the candidates of a catalog are sent with it.
  // No two items that wait at the same time have the same id.
  absl::Status TryInsert(proto::Item&& item);
  absl::Status TryInsert(proto::Item&& item, const google::protobuf::MessageLite& payload);
  absl::Status TryInsert(ChunkedItem&& item);

  // States the signature of items that are to be inserted (replay/signature.h), and returns the key
  // that each of them names in its `signature`. Shards are told of it before the first item. An
  // item that a table refuses for it is dropped and counted as refused, and the log names the
  // column. Returns INVALID_ARGUMENT if the text is no signature, or the 65th one.
  absl::StatusOr<std::string> StateSignature(const std::string& text);

  // Sets the function that is called once after a TryInsert returned RESOURCE_EXHAUSTED, when
  // trying again may help. Set it before the first TryInsert.
  void OnSpace(std::function<void()> on_space);

  // Takes no more items and waits until all are acknowledged. Returns DEADLINE_EXCEEDED with the
  // number of remaining items after `timeout`.
  absl::Status Drain(std::chrono::milliseconds timeout);

  InserterStats stats() const;

 private:
  class Impl;
  explicit Inserter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::replay::client
