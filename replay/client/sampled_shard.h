// SPDX-License-Identifier: Apache-2.0
// One shard as a sampler sees it: the stream to it, the chunks that came on that stream, the credit
// that it was given, and what it is still to be told.
//
// It belongs to the sampler's one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/transport/connector.h"
#include "proto/replay.pb.h"
#include "replay/client/chunk_reader.h"
#include "replay/client/incoming_reply.h"
#include "replay/client/link.h"
#include "replay/client/sampler.h"
#include "replay/client/silence.h"
#include "replay/client/stream_ring.h"
#include "replay/wire.h"

namespace shoal::replay::client {

class SampledShard {
 public:
  // `wake` is called from gRPC's threads until Close of the link has returned.
  SampledShard(const std::string& address, const transport::Connector& connect,
               std::function<void()> wake)
      : address(address), link(address, connect, "Sample", "learner", std::move(wake)) {}

  // Opens a stream, which knows nothing of an earlier one. REQUIRES: link.MayOpen.
  void Open(const SamplerOptions& options);

  // Reports these contents as forgotten with the next requests.
  void Forget(std::vector<std::string> keys);
  // Lets the chunks go for which `bytes` have no room, and reports them. Returns whether there were
  // any.
  bool ForgetChunks(std::size_t bytes);

  // Returns how many steps the table has taken in since it told of them last.
  std::uint64_t CountInserted(std::uint64_t steps_total);

  // Adds this credit and what is to be told to `request`, which may have priorities already, and
  // sends it unless it says nothing.
  void Ask(proto::SampleRequest request, std::size_t credit, const PolicyVersion& current,
           runtime::TimePoint now);

  const std::string address;
  Link<proto::SampleRequest, IncomingReply> link;
  SampleRing ring;
  // The chunks that came on this stream.
  ChunkReader chunks{{}};
  bool live = false;
  // True once the list of addresses names it no longer.
  bool removed = false;
  // Credit that the shard was given and has not used.
  std::size_t outstanding = 0;
  // Credit that was drawn for the shard and is to be sent.
  std::size_t drawn = 0;
  // True if its table draws at random, so that its credit is drawn.
  bool by_mass = false;
  Silence silence;
  // True while it has credit, gives nothing, and is left out of the draws.
  bool left_out = false;

 private:
  // The newest version that it was told of.
  PolicyVersion told_;
  // The steps that its table had taken in when it told of it last.
  std::optional<std::uint64_t> inserted_steps_;
  // The keys of contents to be reported as forgotten on this stream.
  std::deque<std::string> forgotten_;
  // How many keys were ever put there on this stream.
  std::uint64_t forgotten_total_ = 0;
};

}  // namespace shoal::replay::client
