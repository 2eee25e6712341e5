// SPDX-License-Identifier: Apache-2.0
#include "replay/outgoing.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace shoal::replay {
namespace {

using google::protobuf::io::CodedOutputStream;

// Returns the size of such a field with its tag.
std::size_t FieldBytes(int field, std::size_t bytes) {
  return CodedOutputStream::VarintSize32(TagOf(field)) + CodedOutputStream::VarintSize64(bytes) +
         bytes;
}

class BufferBuilder {
 public:
  // Begins a field of so many bytes.
  void Begin(int field, std::size_t bytes) {
    std::array<std::uint8_t, 16> head;
    std::uint8_t* end = CodedOutputStream::WriteVarint32ToArray(TagOf(field), head.data());
    end = CodedOutputStream::WriteVarint64ToArray(bytes, end);
    copied_.append(head.begin(), head.begin() + (end - head.data()));
  }
  void Add(const google::protobuf::MessageLite& message) { message.AppendToString(&copied_); }
  void Add(const proto::Item& item, const runtime::SharedBytes& payload) {
    Add(static_cast<const google::protobuf::MessageLite&>(item));
    Begin(proto::Item::kPayloadFieldNumber, payload.bytes.size());
    Flush();
    Refer(payload);
  }
  grpc::ByteBuffer Take() {
    Flush();
    return {slices_.data(), slices_.size()};
  }

 private:
  using Owner = std::shared_ptr<const void>;

  void Flush() {
    if (copied_.empty()) return;
    const auto bytes = std::make_shared<const std::string>(std::exchange(copied_, {}));
    Refer({.bytes = *bytes, .owner = bytes});
  }
  void Refer(const runtime::SharedBytes& shared) {
    // The slice never writes to the bytes.
    slices_.emplace_back(
        const_cast<char*>(shared.bytes.data()), shared.bytes.size(),
        [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(shared.owner));
  }

  std::string copied_;
  std::vector<grpc::Slice> slices_;
};

std::size_t BytesOf(const proto::Item& item, const runtime::SharedBytes& payload) {
  return item.ByteSizeLong() + FieldBytes(proto::Item::kPayloadFieldNumber, payload.bytes.size());
}

void AddItem(const proto::Item& item, const runtime::SharedBytes& payload, BufferBuilder& out) {
  out.Begin(proto::InsertRequest::kItemsFieldNumber, BytesOf(item, payload));
  out.Add(item, payload);
}

void AddItem(proto::SampledItem& sampled, const runtime::SharedBytes& payload, BufferBuilder& out) {
  const std::unique_ptr<const proto::Item> item(sampled.release_item());
  const std::size_t bytes = BytesOf(*item, payload);
  out.Begin(proto::SampleReply::kItemsFieldNumber,
            sampled.ByteSizeLong() + FieldBytes(proto::SampledItem::kItemFieldNumber, bytes));
  out.Add(sampled);
  out.Begin(proto::SampledItem::kItemFieldNumber, bytes);
  out.Add(*item, payload);
}

// Moves payloads to the ring while it has room.
void Share(Outgoing<proto::SampleReply>& outgoing, RingWriter& ring) {
  for (std::size_t i = 0; i < outgoing.payloads.size(); ++i) {
    runtime::SharedBytes& payload = outgoing.payloads[i];
    if (payload.bytes.empty()) continue;
    std::optional<proto::RingSpan> span = ring.Write(payload.bytes);
    if (!span) return;
    proto::SampledItem& sampled = *outgoing.message.mutable_items(static_cast<int>(i));
    *sampled.mutable_item()->mutable_shared_payload() = *std::move(span);
    payload = {};
  }
  outgoing.payloads.clear();
}

template <typename Message>
grpc::ByteBuffer EncodeMessage(Outgoing<Message>& outgoing) {
  grpc::ByteBuffer buffer;
  if (outgoing.payloads.empty()) {
    bool owned = false;
    grpc::SerializationTraits<Message>::Serialize(outgoing.message, &buffer, &owned).IgnoreError();
    return buffer;
  }
  BufferBuilder builder;
  auto items = std::move(*outgoing.message.mutable_items());
  outgoing.message.clear_items();
  outgoing.payloads.resize(static_cast<std::size_t>(items.size()));
  builder.Add(outgoing.message);
  for (std::size_t i = 0; i < outgoing.payloads.size(); ++i) {
    auto& item = items[static_cast<int>(i)];
    const runtime::SharedBytes& payload = outgoing.payloads[i];
    if (payload.bytes.empty()) {
      builder.Begin(Message::kItemsFieldNumber, item.ByteSizeLong());
      builder.Add(item);
    } else {
      AddItem(item, payload, builder);
    }
  }
  return builder.Take();
}

}  // namespace

std::uint32_t TagOf(int field) {
  using google::protobuf::internal::WireFormatLite;
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

grpc::ByteBuffer Encode(Outgoing<proto::InsertRequest> outgoing) { return EncodeMessage(outgoing); }

grpc::ByteBuffer Encode(Outgoing<proto::SampleReply> outgoing, RingWriter* ring) {
  if (ring != nullptr) Share(outgoing, *ring);
  return EncodeMessage(outgoing);
}

}  // namespace shoal::replay
