// SPDX-License-Identifier: Apache-2.0
// An unroll chunker turns unrolls that overlap into items that share the chunks of their rows.
//
// It has a chunk writer for each environment. A row goes into a chunk once, when its first unroll
// comes. What the environment does not do any more to a row is then settled, but for two columns:
// `flags`, which end in the bootstrap row without the outcome of its action, and `catalog`, which
// counts the catalogs of its unroll. They stay in the item. The columns of steps, [T], are stored
// with the row after them, since a row's reward is known when the next row is there.
//
// Items wait until the chunks of their last rows are full (replay/client/chunk_writer.h), so at
// most one chunk's length of rows. They wait no longer when the environment's unrolls no longer
// follow on one another, when more than `max_environments` have come since, or after Flush.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>

#include "inference/core/unroll.h"
#include "inference/service/unroll_item.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "replay/client/chunk_writer.h"

namespace shoal::inference {

struct UnrollChunkerOptions {
  UnrollDestination to = {};
  // The length of chunks in rows; 0 lets it follow the size of rows.
  std::size_t chunk_rows = 0;
  // The most rows of an unroll, T + 1.
  std::size_t unroll_rows = 17;
  // See ChunkEncoder.
  int compression_level = 1;
  // If true, no item waits: each unroll ends its chunk.
  bool ends_chunks = false;
  // The most environments whose last rows are kept.
  std::size_t max_environments = 65536;
};

class UnrollChunker {
 public:
  // `metrics` must outlive the chunker.
  UnrollChunker(const UnrollChunkerOptions& options, runtime::Metrics& metrics);

  // Takes the unroll. Its item names `signature`, the key of one that was stated. Returns
  // INVALID_ARGUMENT if the unroll has more than `unroll_rows` rows.
  absl::Status Add(const Unroll& unroll, const std::string& signature);
  // Ends all chunks, so that all items are ready.
  void Flush();

  // The items that are ready, oldest first. The caller takes them.
  std::deque<replay::client::ChunkedItem>& ready() { return ready_; }

 private:
  struct Trajectory {
    replay::client::ChunkWriter writer;
    std::uint64_t incarnation = 0;
    // The first sequence of the last unroll.
    std::uint64_t last_unroll = 0;
    // Its place in `recent_`.
    std::list<std::uint64_t>::iterator place;
  };

  // Returns the trajectory that the unroll goes on with, or a new one.
  Trajectory& Find(const Unroll& unroll);
  Trajectory& Begin(const Unroll& unroll);
  void End(std::uint64_t environment);
  void TakeReady(Trajectory& trajectory);
  void Count();

  const UnrollChunkerOptions options_;
  replay::client::ChunkEncoder encoder_;
  std::unordered_map<std::uint64_t, Trajectory> trajectories_;
  // Environments, most recently seen first.
  std::list<std::uint64_t> recent_;
  std::deque<replay::client::ChunkedItem> ready_;
  prometheus::Counter& plain_bytes_;
  prometheus::Counter& chunk_bytes_;
  prometheus::Gauge& bytes_left_;
  std::uint64_t counted_plain_bytes_ = 0;
  std::uint64_t counted_chunk_bytes_ = 0;
};

}  // namespace shoal::inference
