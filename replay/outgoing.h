// SPDX-License-Identifier: Apache-2.0
// An outgoing message is one that is about to be sent, and whose large payloads stay where they
// are: gRPC is given references to them, so none of their bytes is copied before the kernel copies
// them.
//
// The bytes on the wire are those of the whole message, where no ring takes the payloads. Small
// payloads stand in the message itself, since for them a reference costs more than a copy.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/runtime/large_memory.h"
#include "proto/replay.pb.h"
#include "replay/shared_ring.h"

namespace shoal::replay {

// A payload of at least this size is sent by reference.
inline constexpr std::size_t kReferencedBytes = std::size_t{16} << 10;

// Returns what stands on the wire before a field that has a length: a message, text or bytes.
std::uint32_t TagOf(int field);

template <typename Message>
struct Outgoing {
  Message message = {};
  // The payloads of the message's items, by their index. An item without one here, or with an empty
  // one, has its payload in the message. They never change.
  std::vector<runtime::SharedBytes> payloads = {};
};

// Return what gRPC sends. The buffer keeps the owners of the payloads until it is freed. Each item
// is at most 2 GiB.
grpc::ByteBuffer Encode(Outgoing<proto::InsertRequest> outgoing);
// Payloads for which `ring` has room are written there, and the message only says where; null is a
// ring without room.
grpc::ByteBuffer Encode(Outgoing<proto::SampleReply> outgoing, RingWriter* ring = nullptr);

}  // namespace shoal::replay
