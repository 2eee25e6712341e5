// SPDX-License-Identifier: Apache-2.0
// A sampler samples items of one table from all shards at once, by credit, into a bounded queue.
//
// Where the table draws at random, credit is shared out among shards at random, too, in proportion
// to the sums of their items' weights, so that all shards together are sampled like one table, as
// long as they do not change: an item has the probability weight / (sum of the weights on all
// shards). While they change, shards tell of it, and a draw follows what was heard last. Where an
// order chooses, each shard has an equal share of the credit and keeps its order, and items of
// different shards come as they are ready.
//
// A lost shard is skipped and reconnected in the background, and a shard without items never holds
// up the others. Items that a shard handed out and the connection lost are gone: an item comes at
// most as often as its table allows. Next drops and counts items that became stale in the queue.
//
// Shards may be added and removed by a file of addresses. A removed shard is asked for nothing
// more, and what it holds is left to it.
//
// Unrolls whose rows came in chunks are put together again (replay/client/chunk_reader.h): Next
// returns them like any other.
//
// A shard that sends more items than it has credit for breaks the protocol: the reply is dropped
// and counted as invalid, and the stream is cancelled and opened again.
//
// Thread-safe, except that only one thread may call Next.
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
#include "platform/transport/connector.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/content_sink.h"
#include "replay/client/priority_outbox.h"

namespace shoal::replay::client {

struct SamplerOptions {
  // "host:port", one for each shard.
  std::vector<std::string> addresses = {};
  // A file that names the shards in their place and is read again while the sampler lives
  // (platform/transport/address_list.h). Empty: there is none.
  std::string address_file = {};
  // The name of this process in a shard's log.
  std::string client = {};
  std::string table = {};
  // The most items that are queued or on their way from all shards together, at least one for each
  // shard. Where shards are drawn, one that has credit, gives nothing for two seconds and does not
  // say that its table waits is left out until it gives again, and its credit is not counted. One
  // that waits is left out only while it has so much credit that others, which have items, get
  // none.
  std::size_t prefetch = 64;
  // Items of an earlier epoch than the current version, or more than this many steps older, are
  // never returned. With 0 items of any version are returned.
  std::uint32_t max_lag = 0;
  // Memory for chunks and what they unpack to, shared out equally among the shards.
  std::size_t chunk_bytes = std::size_t{256} << 20;
  // The learner group that samples: its epoch, this process's rank and the number of ranks.
  std::uint64_t group_epoch = 0;
  std::uint32_t rank = 0;
  std::uint32_t world = 1;
  // The columns that the reader expects (replay/signature.h). A shard whose table has others is
  // refused; Next and the log name the column. Empty: any are taken.
  std::string signature = {};
  // Seeds the draws of shards.
  std::uint64_t seed = 0;
  // For lock step, where the order of samples and priorities matters: items are asked for as Want
  // says and never ahead of it, there is one shard, and the end of its stream is an error of Next.
  bool on_demand = false;
  // How the shards are reached. Shards of the same process need no sockets.
  transport::Connector connect = transport::OverSockets();
  // Whether large payloads go through shared memory where a shard's address is a socket in the file
  // system (replay/client/stream_ring.h).
  bool shares_memory = true;
};

struct SampledUnroll {
  proto::Unroll unroll;
  proto::PolicyVersion oldest_version;
  proto::PolicyVersion newest_version;
  // The number of rows that carry weight.
  std::uint32_t steps = 0;
  float priority = 0;
  // P(i), the probability with which it was drawn from the N = `table_size` items of all shards,
  // and the least probability of any of them. The importance weight of prioritized replay is
  // (N P(i))^-beta, and (least_probability / probability)^beta after division by the greatest one
  // (Schaul et al. 2016, section 3.4). Where an order chooses, both are 1, and N is the shard's.
  double probability = 1;
  double least_probability = 1;
  std::uint64_t table_size = 0;
  // How often the shard has handed it out, including this time.
  std::uint32_t times_sampled = 0;
  // Its shard, by the order in which shards were first named.
  std::size_t shard = 0;
};

struct SamplerStats {
  std::uint64_t received_total = 0;
  // The bytes of payloads that came through shared memory.
  std::uint64_t shared_bytes_total = 0;
  std::uint64_t dropped_stale_total = 0;
  // Payloads that are not an Unroll with the item's id or do not fit their chunks, invalid
  // contents, and replies beyond credit.
  std::uint64_t dropped_invalid_total = 0;
  // Priority updates that were dropped because too many waited.
  std::uint64_t dropped_updates_total = 0;
  // The environments' steps that the table took in on all shards, as far as they told of it, since
  // this sampler heard of each shard first.
  std::uint64_t inserted_steps_total = 0;
  // The number of items in the queue now.
  std::size_t waiting = 0;
  std::size_t live_shards = 0;
  // Of those, the ones that are left out of the draws now.
  std::size_t left_out_shards = 0;
};

class Sampler {
 public:
  // Connects in the background; no shard needs to be up. `sink` and `metrics` must outlive the
  // sampler. Returns INVALID_ARGUMENT without addresses or table, if the signature is none, and on
  // demand of several shards; and the errors of the file of addresses.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(
      SamplerOptions options, ContentSink& sink, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  ~Sampler();

  // Returns the next unroll, whose contents are with the sink already. Returns DEADLINE_EXCEEDED if
  // none came within `timeout`, with what a shard refused to give items for or waits for, and
  // CANCELLED after Close. On demand it returns FAILED_PRECONDITION once the shard was lost, for
  // then nobody knows which items were drawn.
  absl::StatusOr<SampledUnroll> Next(std::chrono::milliseconds timeout);

  // On demand: Next is to return so many further items, those that were asked for and have not been
  // returned included. They are drawn once the round that was played in this version has ended, and
  // after all priorities that were updated before.
  void Want(std::size_t count, const proto::PolicyVersion& played);

  // Sends new priorities to the shards that the items came from. Shards ignore those of items that
  // have left. If 65,536 updates wait for a shard that is away, the oldest ones are dropped.
  // Returns INVALID_ARGUMENT, and sends none, if a priority or a shard is out of range.
  absl::Status UpdatePriorities(std::span<const PriorityUpdate> updates);

  // Reports the version that the learner has published: shards evict items that are too old, and
  // Next drops them. Ignores a version that is not newer.
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
