// SPDX-License-Identifier: Apache-2.0
#include "replay/client/incoming_reply.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "replay/outgoing.h"
#include "replay/wire.h"

namespace shoal::replay::client {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// Calls take(in) for each field with this number, with the limit at its end, and parses the others
// as `message`. Returns false if take does or if the bytes are no message.
template <typename Message, typename Take>
bool ParseBut(int field, CodedInputStream& in, Message& message, Take take) {
  std::string rest;
  {
    StringOutputStream stream(&rest);
    CodedOutputStream out(&stream);
    while (const std::uint32_t tag = in.ReadTag()) {
      if (tag != TagOf(field)) {
        if (!WireFormatLite::SkipField(&in, tag, &out)) return false;
        continue;
      }
      int size = 0;
      if (!in.ReadVarintSizeAsInt(&size) || size > in.BytesUntilLimit()) return false;
      const CodedInputStream::Limit limit = in.PushLimit(size);
      if (!take(in) || in.BytesUntilLimit() != 0) return false;
      in.PopLimit(limit);
    }
    if (!in.ConsumedEntireMessage()) return false;
  }
  return message.ParseFromString(rest);
}

bool ParseItem(CodedInputStream& in, proto::Item& item, std::optional<proto::Unroll>& unroll) {
  return ParseBut(proto::Item::kPayloadFieldNumber, in, item, [&unroll](CodedInputStream& field) {
    const bool sound = unroll.emplace().ParseFromCodedStream(&field);
    // A zero among the tags ends a message, too.
    const int rest = field.BytesUntilLimit();
    if (!sound || rest > 0) unroll.reset();
    return field.Skip(rest);
  });
}

bool ParseSampled(CodedInputStream& in, proto::SampledItem& sampled,
                  std::optional<proto::Unroll>& unroll) {
  proto::Item item;
  // An item without a payload has an empty one.
  unroll.emplace();
  const bool sound = ParseBut(
      proto::SampledItem::kItemFieldNumber, in, sampled,
      [&item, &unroll](CodedInputStream& field) { return ParseItem(field, item, unroll); });
  *sampled.mutable_item() = std::move(item);
  return sound;
}

bool ParseReply(grpc::ByteBuffer& buffer, IncomingReply& incoming) {
  grpc::ProtoBufferReader reader(&buffer);
  CodedInputStream in(&reader);
  in.PushLimit(static_cast<int>(buffer.Length()));
  std::vector<proto::SampledItem> items;
  const bool sound =
      ParseBut(proto::SampleReply::kItemsFieldNumber, in, incoming.reply,
               [&items, &incoming](CodedInputStream& field) {
                 return ParseSampled(field, items.emplace_back(), incoming.unrolls.emplace_back());
               });
  for (proto::SampledItem& item : items) *incoming.reply.add_items() = std::move(item);
  return sound;
}

// Returns whether an item of the reply is so large that its payload is to be parsed in place.
bool HasLargeItem(grpc::ByteBuffer& buffer) {
  // More than protobuf can parse is left to it to refuse.
  const bool is_too_long = buffer.Length() > std::numeric_limits<int>::max();
  if (buffer.Length() < kReferencedBytes || is_too_long) return false;
  grpc::ProtoBufferReader reader(&buffer);
  CodedInputStream in(&reader);
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag != TagOf(proto::SampleReply::kItemsFieldNumber)) {
      if (!WireFormatLite::SkipField(&in, tag)) return false;
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return false;
    if (static_cast<std::size_t>(size) >= kReferencedBytes) return true;
    if (!in.Skip(size)) return false;
  }
  return false;
}

}  // namespace

bool TakeUnroll(IncomingReply& incoming, int item, RingReader* ring, proto::Unroll& unroll) {
  const proto::Item& source = incoming.reply.items(item).item();
  if (source.has_shared_payload()) {
    if (ring == nullptr) return false;
    const absl::StatusOr<std::string_view> payload = ring->Read(source.shared_payload());
    return payload.ok() &&
           unroll.ParseFromArray(payload->data(), static_cast<int>(payload->size()));
  }
  if (incoming.unrolls.empty()) {
    return unroll.ParseFromString(source.payload());
  }
  std::optional<proto::Unroll>& parsed = incoming.unrolls[static_cast<std::size_t>(item)];
  if (!parsed) return false;
  unroll = *std::move(parsed);
  return true;
}

absl::Status TakeWholeUnroll(IncomingReply& incoming, int item, RingReader* ring,
                             ChunkReader& chunks, proto::Unroll& unroll) {
  const proto::Item& source = incoming.reply.items(item).item();
  const proto::UnrollId& id = source.id();
  if (!TakeUnroll(incoming, item, ring, unroll)) {
    return runtime::InvalidArgument("an item's payload is no Unroll");
  }
  if (unroll.id().environment_id() != id.environment_id() ||
      unroll.id().incarnation() != id.incarnation() ||
      unroll.id().first_sequence() != id.first_sequence()) {
    return runtime::InvalidArgument("an item's unroll has another id");
  }
  const std::vector<const std::string*> keys(source.chunk_keys().pointer_begin(),
                                             source.chunk_keys().pointer_end());
  return chunks.Restore(keys, unroll);
}

void DeliverContents(const proto::SampleReply& reply, ContentSink& sink,
                     const std::function<void(const absl::Status&)>& refuse) {
  for (const proto::Embeddings& embeddings : reply.embeddings()) {
    const absl::Status status = Check(embeddings);
    status.ok() ? sink.AddEmbeddings(embeddings) : refuse(status);
  }
  for (const proto::Catalog& catalog : reply.catalogs()) {
    const auto checked = FromProto(catalog);
    checked.ok() ? sink.AddCatalog(catalog) : refuse(checked.status());
  }
  for (const proto::Overlay& overlay : reply.overlays()) {
    const auto checked = FromProto(overlay);
    checked.ok() ? sink.AddOverlay(overlay) : refuse(checked.status());
  }
}

bool Decode(grpc::ByteBuffer& buffer, IncomingReply& incoming) {
  incoming.Clear();
  if (HasLargeItem(buffer)) return ParseReply(buffer, incoming);
  grpc::ProtoBufferReader reader(&buffer);
  return incoming.reply.ParseFromZeroCopyStream(&reader);
}

}  // namespace shoal::replay::client
