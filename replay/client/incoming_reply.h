// SPDX-License-Identifier: Apache-2.0
// A reply of a sampling stream as it came, whose large payloads stay in gRPC's memory until they
// are parsed, so that none of their bytes is copied before.
//
// It is what a stream of gRPC receives in place of a proto::SampleReply, from the same bytes.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <vector>

#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"

namespace shoal::replay::client {

struct IncomingReply {
  proto::SampleReply reply = {};
  // The payloads of the reply's items, by their index. Empty where the payloads are in the items.
  std::vector<grpc::ByteBuffer> payloads = {};

  const proto::SampleWelcome& welcome() const { return reply.welcome(); }
  void Clear() { *this = {}; }
};

// Parses the payload of the item with this index. Returns false if it is no Unroll.
bool ParsePayload(const IncomingReply& incoming, int item, proto::Unroll& unroll);

// Splits what came into the reply and the payloads, if one of these is to stay where it is. Returns
// false if it is no SampleReply.
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
