// SPDX-License-Identifier: Apache-2.0
// A sampler samples items of one table from all shards at once, by credit, into a bounded queue.
//
// A shard that is lost is skipped and reconnected to in the background; one that has nothing to
// give never holds up the others. What a shard handed out and the connection lost is gone: an item
// comes at most as often as its table allows. Items in the queue that became stale are dropped by
// Next and counted.
//
// A shard that sends more items than it was asked for breaks the protocol: its stream is cancelled
// and opened again, the reply is dropped and counted invalid.
//
// Thread-safe; Next is for one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/content_sink.h"

namespace shoal::replay::client {

struct SamplerOptions {
  // "host:port", one for each shard.
  std::vector<std::string> addresses = {};
  // Names this process in a shard's log.
  std::string client = {};
  std::string table = {};
  // Items that may lie in the queue or be on their way, all shards together; at least one a shard.
  std::size_t prefetch = 64;
  // Items with a version older than the current one by epoch, or by more than this many steps, are
  // never returned. With 0 items of any version are, from earlier epochs too.
  std::uint32_t max_lag = 0;
  // The learner group that samples: its epoch, and which of how many ranks this is.
  std::uint64_t group_epoch = 0;
  std::uint32_t rank = 0;
  std::uint32_t world = 1;
};

struct SampledUnroll {
  proto::Unroll unroll;
  proto::PolicyVersion oldest_version;
  proto::PolicyVersion newest_version;
  // How many rows carry weight.
  std::uint32_t steps = 0;
  float priority = 0;
  // The probability with which the table chose it among `table_size` items; 1 for FIFO.
  double probability = 1;
  std::uint64_t table_size = 0;
  // How often the shard has handed it out, this time included.
  std::uint32_t times_sampled = 0;
  // Its shard's position in `addresses`.
  std::size_t shard = 0;
};

// Another priority for an item that Next returned.
struct PriorityUpdate {
  // The shard that it came from.
  std::size_t shard = 0;
  proto::UnrollId id;
  // It is finite and at least 0.
  float priority = 0;
};

struct SamplerStats {
  std::uint64_t received_total = 0;
  std::uint64_t dropped_stale_total = 0;
  // Payloads that are no Unroll of the item's id, contents that are not whole, replies beyond
  // credit.
  std::uint64_t dropped_invalid_total = 0;
  // Priority updates for which there was no room.
  std::uint64_t dropped_updates_total = 0;
  // How many are in the queue now.
  std::size_t waiting = 0;
  std::size_t live_shards = 0;
};

class Sampler {
 public:
  // Connects in the background; no shard needs to be up. `sink` and `metrics` outlive this.
  // INVALID_ARGUMENT without addresses or table.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(
      SamplerOptions options, ContentSink& sink, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  ~Sampler();

  // Returns the next unroll; its contents are with the sink. DEADLINE_EXCEEDED when none came in
  // `timeout`, CANCELLED after Close.
  absl::StatusOr<SampledUnroll> Next(std::chrono::milliseconds timeout);

  // Sends new priorities to the shards that the items came from; those of items that have left, and
  // those of a shard that is away for so long that 65,536 wait for it, are passed over.
  // INVALID_ARGUMENT, and none is sent, when a priority or a shard is out of range.
  absl::Status UpdatePriorities(std::span<const PriorityUpdate> updates);

  // Says what the learner has published: shards evict what is too old, and Next drops it. A version
  // that is not newer is ignored.
  void SetCurrentVersion(const proto::PolicyVersion& version);

  // Ends the streams and wakes Next. Idempotent.
  void Close();

  SamplerStats stats() const;

 private:
  class Impl;
  explicit Sampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::replay::client
