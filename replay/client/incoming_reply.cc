// SPDX-License-Identifier: Apache-2.0
#include "replay/client/incoming_reply.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "replay/outgoing.h"

namespace shoal::replay::client {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// A part of a buffer.
struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
};

constexpr std::uint32_t TagOf(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

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

bool ParseItem(CodedInputStream& in, proto::Item& item, Range& payload) {
  return ParseBut(proto::Item::kPayloadFieldNumber, in, item, [&payload](CodedInputStream& field) {
    payload = {.begin = static_cast<std::size_t>(field.CurrentPosition()),
               .size = static_cast<std::size_t>(field.BytesUntilLimit())};
    return field.Skip(field.BytesUntilLimit());
  });
}

bool ParseSampled(CodedInputStream& in, proto::SampledItem& sampled, Range& payload) {
  proto::Item item;
  const bool sound = ParseBut(
      proto::SampledItem::kItemFieldNumber, in, sampled,
      [&item, &payload](CodedInputStream& field) { return ParseItem(field, item, payload); });
  *sampled.mutable_item() = std::move(item);
  return sound;
}

bool ParseReply(grpc::ByteBuffer& buffer, proto::SampleReply& reply, std::vector<Range>& payloads) {
  grpc::ProtoBufferReader reader(&buffer);
  CodedInputStream in(&reader);
  in.PushLimit(static_cast<int>(buffer.Length()));
  std::vector<proto::SampledItem> items;
  const bool sound =
      ParseBut(proto::SampleReply::kItemsFieldNumber, in, reply,
               [&items, &payloads](CodedInputStream& field) {
                 return ParseSampled(field, items.emplace_back(), payloads.emplace_back());
               });
  for (proto::SampledItem& item : items) *reply.add_items() = std::move(item);
  return sound;
}

// Returns whether an item of the reply is so large that its payload may stay where it is.
bool HasLargeItem(grpc::ByteBuffer& buffer) {
  if (buffer.Length() < kReferencedBytes) return false;
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

// Takes references to a part of the slices, which begin at `offset` of the buffer. Later parts have
// to lie behind this one.
class Cutter {
 public:
  explicit Cutter(const grpc::ByteBuffer& buffer) { buffer.Dump(&slices_).IgnoreError(); }

  grpc::ByteBuffer Cut(const Range& range) {
    std::vector<grpc::Slice> parts;
    const std::size_t end = range.begin + range.size;
    while (at_ < slices_.size() && offset_ < end) {
      const grpc::Slice& slice = slices_[at_];
      const std::size_t first = range.begin - std::min(range.begin, offset_);
      const std::size_t last = std::min(slice.size(), end - offset_);
      if (first < last) parts.push_back(slice.sub(first, last));
      if (last < slice.size()) break;
      offset_ += slice.size();
      ++at_;
    }
    return {parts.data(), parts.size()};
  }

 private:
  std::vector<grpc::Slice> slices_;
  std::size_t at_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace

bool ParsePayload(const IncomingReply& incoming, int item, proto::Unroll& unroll) {
  if (incoming.payloads.empty()) {
    return unroll.ParseFromString(incoming.reply.items(item).item().payload());
  }
  grpc::ByteBuffer payload = incoming.payloads[static_cast<std::size_t>(item)];
  grpc::ProtoBufferReader reader(&payload);
  return unroll.ParseFromZeroCopyStream(&reader);
}

bool Decode(grpc::ByteBuffer& buffer, IncomingReply& incoming) {
  incoming.Clear();
  if (!HasLargeItem(buffer)) {
    grpc::ProtoBufferReader reader(&buffer);
    return incoming.reply.ParseFromZeroCopyStream(&reader);
  }
  std::vector<Range> ranges;
  if (!ParseReply(buffer, incoming.reply, ranges)) return false;
  Cutter cutter(buffer);
  for (const Range& range : ranges) incoming.payloads.push_back(cutter.Cut(range));
  return true;
}

}  // namespace shoal::replay::client
