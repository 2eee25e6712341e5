// SPDX-License-Identifier: Apache-2.0
// A ring (replay/shared_ring.h) of blocks: room that belongs to whoever asked for it until the last
// reference to it is gone. An inserter has one for each stream. A payload is written into a block
// where it is made, and the block is kept until the shard has acknowledged the item, so that it can
// be sent again.
//
// Blocks may be given back in any order; room is free again once all blocks before it are back.
// Thread-safe. The memory lives as long as the ring or one of its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "replay/shared_ring.h"

namespace shoal::replay::client {

class RingBlock;

class BlockRing : public std::enable_shared_from_this<BlockRing> {
 public:
  // RESOURCE_EXHAUSTED: see RingWriter::Create.
  static absl::StatusOr<std::shared_ptr<BlockRing>> Create(std::size_t capacity);

  // Where another process finds the ring.
  const proto::RingAddress& address() const { return address_; }
  // Returns a block of so many bytes, or null for none, while there is no room, and after Close.
  std::shared_ptr<RingBlock> Allocate(std::size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives no more blocks, so that nothing in the ring is overwritten that was given back.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class RingBlock;
  struct Used {
    std::uint64_t position;
    std::uint64_t end;
    bool released = false;
  };

  explicit BlockRing(std::unique_ptr<RingWriter> writer)
      : address_(writer->address()), writer_(std::move(writer)) {}
  void Release(const proto::RingSpan& span) ABSL_LOCKS_EXCLUDED(mutex_);

  const proto::RingAddress address_;
  runtime::Mutex mutex_;
  const std::unique_ptr<RingWriter> writer_ ABSL_PT_GUARDED_BY(mutex_);
  // In the order of their positions.
  std::deque<Used> used_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

class RingBlock {
 public:
  RingBlock(std::shared_ptr<BlockRing> ring, proto::RingSpan span, char* data)
      : ring_(std::move(ring)), span_(std::move(span)), data_(data) {}
  ~RingBlock() { ring_->Release(span_); }
  RingBlock(const RingBlock&) = delete;
  RingBlock& operator=(const RingBlock&) = delete;

  char* data() { return data_; }
  std::string_view bytes() const { return {data_, span_.bytes()}; }
  // Where the reader finds it.
  const proto::RingSpan& span() const { return span_; }
  const BlockRing* ring() const { return ring_.get(); }

 private:
  const std::shared_ptr<BlockRing> ring_;
  const proto::RingSpan span_;
  char* const data_;
};

}  // namespace shoal::replay::client
