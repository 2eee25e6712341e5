// SPDX-License-Identifier: Apache-2.0
// A reply of a sampling stream as it came. Large payloads are parsed into unrolls where gRPC has
// them, so their bytes are copied once. They are parsed by gRPC's thread, right after it has read
// them: memory that another thread gives back is no longer in the caches when gRPC reads into it
// again.
//
// It is what a stream of gRPC receives in place of a proto::SampleReply, from the same bytes.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <optional>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/chunk_reader.h"
#include "replay/client/content_sink.h"
#include "replay/shared_ring.h"

namespace shoal::replay::client {

struct IncomingReply {
  proto::SampleReply reply = {};
  // The payloads of the reply's items, by their index, and nothing for one that is no Unroll. Empty
  // where the payloads are in the items.
  std::vector<std::optional<proto::Unroll>> unrolls = {};

  const proto::SampleWelcome& welcome() const { return reply.welcome(); }
  void Clear() { *this = {}; }
};

// Moves the unroll of the item with this index into `unroll`, or parses it where `ring` has it;
// null is a ring that has nothing. Returns false if there is none.
bool TakeUnroll(IncomingReply& incoming, int item, RingReader* ring, proto::Unroll& unroll);

// The same, put together with its chunks. Returns INVALID_ARGUMENT if there is no unroll with the
// item's id, and fails as ChunkReader::Restore does.
absl::Status TakeWholeUnroll(IncomingReply& incoming, int item, RingReader* ring,
                             ChunkReader& chunks, proto::Unroll& unroll);

// Gives the reply's embeddings, catalogs and overlays to `sink`. Calls `refuse` for each that is
// none.
void DeliverContents(const proto::SampleReply& reply, ContentSink& sink,
                     const std::function<void(const absl::Status&)>& refuse);

// Parses what came. Returns false if it is no SampleReply.
bool Decode(grpc::ByteBuffer& buffer, IncomingReply& incoming);

}  // namespace shoal::replay::client

namespace grpc {

template <>
class SerializationTraits<shoal::replay::client::IncomingReply> {
 public:
  static Status Deserialize(ByteBuffer* buffer, shoal::replay::client::IncomingReply* incoming) {
    const bool sound = shoal::replay::client::Decode(*buffer, *incoming);
    buffer->Clear();
    return sound ? Status::OK : Status(StatusCode::INTERNAL, "the message is no SampleReply");
  }
};

}  // namespace grpc
