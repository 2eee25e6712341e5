// SPDX-License-Identifier: Apache-2.0
// Pure functions that convert the messages of replay.proto to the shard's types and back, and check
// them. Errors are INVALID_ARGUMENT and name the field and the limit.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/content.pb.h"
#include "proto/replay.pb.h"
#include "replay/item.h"
#include "replay/outgoing.h"
#include "replay/shard.h"

namespace shoal::replay {

// The most bytes of contents in one message, except that a single catalog may be larger.
inline constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

// Moves the payload out of `item` if the status is OK.
absl::StatusOr<std::shared_ptr<Item>> FromProto(proto::Item& item, std::size_t max_item_bytes);
// Writes all of `item` but its payload.
void ToProto(const Item& item, proto::Item& out);
PolicyVersion FromProto(const proto::PolicyVersion& version);
UnrollId FromProto(const proto::UnrollId& id);
// `what` names the field in the error.
absl::StatusOr<std::vector<Key>> KeysFrom(
    const google::protobuf::RepeatedPtrField<std::string>& wire, std::string_view what);
absl::StatusOr<std::vector<PriorityUpdate>> FromProto(
    const google::protobuf::RepeatedPtrField<proto::PriorityUpdate>& updates);

// Checks that keys are whole and vectors are FLOAT16 [N, dimension].
absl::Status Check(const proto::Embeddings& embeddings);
absl::StatusOr<std::vector<Content>> FromProto(const proto::Embeddings& embeddings);
// Check that the key is the hash of the contents. That of a chunk takes its data if it is OK.
absl::StatusOr<Content> FromProto(const proto::Catalog& catalog);
absl::StatusOr<Content> FromProto(const proto::Overlay& overlay);
absl::StatusOr<Content> FromProto(proto::Chunk&& chunk, std::size_t max_bytes);

// A content of any kind in a message, and the one content of such a message.
proto::SampleReply ToProto(const Content& content);
absl::StatusOr<Content> ContentFrom(proto::SampleReply&& message);

proto::Mass ToProto(const Mass& mass);
// Checks that the sums are between 0 and 1e200.
absl::StatusOr<Mass> FromProto(const proto::Mass& mass);

// Returns the messages that carry `batch`, to be sent in order; contents come first. Large payloads
// are references to the items'; small ones that nobody else has are moved away.
std::vector<Outgoing<proto::SampleReply>> ToReplies(SampleBatch& batch);

}  // namespace shoal::replay
