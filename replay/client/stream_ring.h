// SPDX-License-Identifier: Apache-2.0
// The client's ends of the rings (replay/shared_ring.h) of its streams. A stream has a ring if its
// shard is on this host, as far as the address tells, and if both ends could open it. Each stream
// has a ring of its own, so that a late message of an earlier stream finds what was there.
//
// They belong to the client's one thread, but for the blocks of an InsertRing, which any thread may
// have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "replay/client/block_ring.h"
#include "replay/shared_ring.h"

namespace shoal::replay::client {

// Has the payloads of one inserting stream.
class InsertRing {
 public:
  // The most rings of earlier streams that may be there when one is made. They are there as long as
  // their blocks, which may be long where one connection after another breaks.
  static constexpr std::size_t kMostEarlier = 3;

  // Makes a ring for a new stream to a shard at this address, and puts its address into `hello`.
  // With kMostEarlier earlier ones the stream has none.
  void Offer(const std::string& shard, proto::InsertHello& hello);
  // Takes from a reply whether the shard reads the ring.
  void Follow(const proto::InsertReply& reply);
  // The stream has ended, and with it what was said of the ring.
  void Close();
  // Null while the shard does not read it.
  std::shared_ptr<BlockRing> blocks() const { return reads_ ? blocks_ : nullptr; }

 private:
  std::shared_ptr<BlockRing> blocks_;
  bool reads_ = false;
  // Those of earlier streams.
  std::vector<std::weak_ptr<const BlockRing>> earlier_;
};

// Reads the payloads of one sampling stream.
class SampleRing {
 public:
  // Asks for a ring for a new stream to a shard at this address.
  void Ask(const std::string& shard, proto::SampleHello& hello);
  // Opens the ring, if the shard has made one that was asked for.
  void Open(const proto::SampleWelcome& welcome);
  // Null without a ring.
  RingReader* reader() const { return reader_.get(); }
  // Puts into `request` that the ring is read, and up to where. Returns whether this is worth a
  // message of its own.
  bool Tell(proto::SampleRequest& request) const;
  // The request was sent.
  void Told(const proto::SampleRequest& request);

 private:
  std::string shard_;
  bool asked_ = false;
  std::unique_ptr<RingReader> reader_;
  bool told_ = false;
  std::uint64_t told_position_ = 0;
};

}  // namespace shoal::replay::client
