// SPDX-License-Identifier: Apache-2.0
// New priorities on their way to the shards of their items. For each shard the newest kMaxWaiting
// of them wait; older ones are dropped and counted.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/replay.pb.h"

namespace shoal::replay::client {

// A new priority for an item that Sampler::Next returned.
struct PriorityUpdate {
  // The shard that the item came from.
  std::size_t shard = 0;
  proto::UnrollId id;
  // Finite and at least 0.
  float priority = 0;
};

class PriorityOutbox {
 public:
  // The most updates that wait for one shard, and that one message carries.
  static constexpr std::size_t kMaxWaiting = 65536;
  static constexpr std::size_t kMaxInMessage = 4096;

  // Adds a shard, whose number is that of the shards before it.
  void AddShard() { waiting_.emplace_back(); }
  // Returns INVALID_ARGUMENT, and takes none, if a priority or a shard is out of range.
  absl::Status Add(std::span<const PriorityUpdate> updates);
  // Moves the oldest updates of a shard into a message. Returns whether others are left.
  bool MoveTo(proto::SampleRequest& request, std::size_t shard);
  // Drops what waits for a shard.
  void Clear(std::size_t shard);

  std::uint64_t dropped_total() const { return dropped_total_; }

 private:
  // By shard.
  std::vector<std::deque<proto::PriorityUpdate>> waiting_;
  std::uint64_t dropped_total_ = 0;
};

}  // namespace shoal::replay::client
