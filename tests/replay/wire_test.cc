// SPDX-License-Identifier: Apache-2.0
#include "replay/wire.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "replay/client/stream_ring.h"
#include "replay/outgoing.h"
#include "replay/shared_ring.h"
#include "tests/replay/messages.h"

namespace shoal::replay {
namespace {

TEST_CASE("an item is checked field by field and keeps its payload when refused") {
  const auto refuse = [](proto::Item item, const std::string& what) {
    const std::size_t payload = item.payload().size();
    const auto parsed = FromProto(item, 1000);
    REQUIRE(absl::IsInvalidArgument(parsed.status()));
    REQUIRE(runtime::Message(parsed.status()).find(what) != std::string::npos);
    REQUIRE(item.payload().size() == payload);
  };
  proto::Item item = ItemOf(1);
  item.clear_id();
  refuse(item, "id");
  item = ItemOf(1);
  item.clear_payload();
  refuse(item, "payload");
  refuse(ItemOf(1, 0, 2000), "1000");
  item = ItemOf(1);
  item.add_content_keys("short");
  refuse(item, "content_keys");
  item = ItemOf(1);
  item.add_catalog_keys(std::string(17, 'k'));
  refuse(item, "catalog_keys");
  item = ItemOf(1, 5);
  item.mutable_newest_version()->set_step(4);
  refuse(item, "version");
  item = ItemOf(1);
  item.set_steps(3);
  item.set_uncounted_steps(4);
  refuse(item, "further steps");
}

TEST_CASE("embeddings must be whole FLOAT16 rows, one a key") {
  const std::vector<std::string> keys = {KeyBytes("a"), KeyBytes("b")};
  REQUIRE(FromProto(EmbeddingsOf(keys))->size() == 2);
  const auto refused = [&keys](const std::function<void(proto::Embeddings&)>& change) {
    proto::Embeddings embeddings = EmbeddingsOf(keys);
    change(embeddings);
    return absl::IsInvalidArgument(FromProto(embeddings).status());
  };
  REQUIRE(refused([](auto& e) { e.mutable_keys()->pop_back(); }));
  REQUIRE(refused([](auto& e) { e.mutable_keys()->resize(16); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->set_dtype(proto::FLOAT32); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->mutable_data()->pop_back(); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->set_shape(1, -4); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->add_shape(1); }));
}

TEST_CASE("a catalog and an overlay whose key is not their hash are refused") {
  proto::Catalog catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
  REQUIRE(FromProto(catalog).ok());
  catalog.mutable_candidate_keys()->append(KeyBytes("c"));
  REQUIRE(absl::IsInvalidArgument(FromProto(catalog).status()));
  proto::Overlay overlay = OverlayOf(KeyBytes("base"), KeyBytes("c"));
  REQUIRE(FromProto(overlay).ok());
  overlay.set_removed(0, 0);
  REQUIRE(absl::IsInvalidArgument(FromProto(overlay).status()));
}

TEST_CASE("a batch goes out contents first, in messages of bounded size, and comes back equal") {
  SampleBatch batch;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back(KeyBytes(std::to_string(i)));
  std::vector<Content> embeddings = *FromProto(EmbeddingsOf(keys, 4096));
  for (Content& content : embeddings) {
    batch.contents.push_back(std::make_shared<const Content>(std::move(content)));
  }
  const proto::Catalog catalog = CatalogOf(keys);
  batch.contents.push_back(std::make_shared<const Content>(*FromProto(catalog)));
  const proto::Overlay overlay = OverlayOf(catalog.key(), keys[0]);
  batch.contents.push_back(std::make_shared<const Content>(*FromProto(overlay)));
  proto::Item item = ItemOf(7, 3);
  item.add_content_keys(keys[0]);
  item.add_catalog_keys(catalog.key());
  proto::Item copy = item;
  batch.samples.push_back({.item = *FromProto(copy, 1000), .table_size = 9, .times_sampled = 2});

  std::vector<proto::SampleReply> replies;
  for (auto& reply : ToReplies(batch)) replies.push_back(std::move(reply.message));
  REQUIRE(replies.size() >= 3);
  int vectors = 0;
  for (const auto& reply : replies) {
    REQUIRE(reply.ByteSizeLong() < 2 * kMessageBytes);
    for (const auto& part : reply.embeddings()) {
      REQUIRE(Check(part).ok());
      vectors += static_cast<int>(part.vectors().shape(0));
    }
  }
  REQUIRE(vectors == 300);
  const proto::SampleReply& last = replies.back();
  REQUIRE(last.catalogs(0).SerializeAsString() == catalog.SerializeAsString());
  REQUIRE(last.overlays(0).SerializeAsString() == overlay.SerializeAsString());
  item.clear_table();
  REQUIRE(last.items(0).item().SerializeAsString() == item.SerializeAsString());
  REQUIRE(last.items(0).table_size() == 9);
  REQUIRE(last.items(0).times_sampled() == 2);
}

TEST_CASE("a large payload is sent from where its item holds it, as long as that takes") {
  proto::Item large = ItemOf(1, 0, 2 * kReferencedBytes);
  proto::Item small = ItemOf(2);
  SampleBatch batch;
  for (const proto::Item* item : {&small, &large}) {
    proto::Item copy = *item;
    batch.samples.push_back({.item = *FromProto(copy, 1 << 20), .table_size = 2});
  }
  const std::weak_ptr<const Item> held = batch.samples[1].item;
  const char* const bytes = batch.samples[1].item->payload.data();
  std::vector<Outgoing<proto::SampleReply>> replies = ToReplies(batch);
  REQUIRE(replies.size() == 1);
  batch.samples.clear();
  {
    grpc::ByteBuffer buffer = Encode(std::move(replies[0]));
    std::vector<grpc::Slice> slices;
    REQUIRE(buffer.Dump(&slices).ok());
    REQUIRE(std::ranges::count_if(slices, [&](const grpc::Slice& slice) {
              return reinterpret_cast<const char*>(slice.begin()) == bytes &&
                     slice.size() == large.payload().size();
            }) == 1);
    proto::SampleReply reply;
    grpc::ProtoBufferReader reader(&buffer);
    REQUIRE(reply.ParseFromZeroCopyStream(&reader));
    REQUIRE(reply.items_size() == 2);
    small.clear_table();
    large.clear_table();
    REQUIRE(reply.items(0).item().SerializeAsString() == small.SerializeAsString());
    REQUIRE(reply.items(1).item().SerializeAsString() == large.SerializeAsString());
    REQUIRE(reply.items(1).table_size() == 2);
    replies.clear();
    REQUIRE_FALSE(held.expired());
  }
  REQUIRE(held.expired());
}

TEST_CASE("a request with large and small payloads reads as if nothing had been apart") {
  proto::InsertRequest whole;
  Outgoing<proto::InsertRequest> apart;
  whole.mutable_hello()->set_client("client");
  apart.message.mutable_hello()->set_client("client");
  for (std::uint64_t i = 0; i < 4; ++i) {
    proto::Item item = ItemOf(i, 0, i * kReferencedBytes / 2);
    item.add_chunk_keys(KeyBytes("chunk"));
    *whole.add_items() = item;
    if (i >= 2) {
      const std::shared_ptr<const std::string> payload(item.release_payload());
      apart.payloads.resize(i + 1);
      apart.payloads[i] = {.bytes = *payload, .owner = payload};
    }
    *apart.message.add_items() = std::move(item);
  }
  grpc::ByteBuffer buffer = Encode(std::move(apart));
  proto::InsertRequest read;
  grpc::ProtoBufferReader reader(&buffer);
  REQUIRE(read.ParseFromZeroCopyStream(&reader));
  REQUIRE(read.SerializeAsString() == whole.SerializeAsString());
}

TEST_CASE("payloads for which a ring has room go there, and the others with the message") {
  constexpr std::size_t kPayload = 2 * kReferencedBytes;
  const auto writer = RingWriter::Create(2 * kPayload + 1000);
  REQUIRE(writer.ok());
  const auto reader = RingReader::Open((*writer)->address());
  REQUIRE(reader.ok());
  std::vector<std::string> payloads;
  Outgoing<proto::SampleReply> outgoing;
  for (std::uint64_t i = 0; i < 4; ++i) {
    proto::Item item = ItemOf(i, 0, i == 0 ? 10 : kPayload);
    payloads.push_back(item.payload());
    if (i > 0) {
      const std::shared_ptr<const std::string> payload(item.release_payload());
      outgoing.payloads.resize(i + 1);
      outgoing.payloads[i] = {.bytes = *payload, .owner = payload};
    }
    *outgoing.message.add_items()->mutable_item() = std::move(item);
  }
  grpc::ByteBuffer buffer = Encode(std::move(outgoing), writer->get());
  proto::SampleReply read;
  grpc::ProtoBufferReader stream(&buffer);
  REQUIRE(read.ParseFromZeroCopyStream(&stream));
  REQUIRE(read.items_size() == 4);
  int shared = 0;
  for (int i = 0; i < 4; ++i) {
    const proto::Item& item = read.items(i).item();
    if (!item.has_shared_payload()) {
      REQUIRE(item.payload() == payloads[static_cast<std::size_t>(i)]);
      continue;
    }
    ++shared;
    REQUIRE(item.payload().empty());
    REQUIRE((*reader)->Read(item.shared_payload()).value() ==
            payloads[static_cast<std::size_t>(i)]);
  }
  REQUIRE(shared == 2);
}

TEST_CASE("a sampler tells how far it has read a ring once a quarter of it is read") {
  constexpr std::size_t kCapacity = 1 << 20;
  const auto writer = RingWriter::Create(kCapacity);
  REQUIRE(writer.ok());
  proto::SampleHello hello;
  client::SampleRing ring;
  ring.Ask("unix:/tmp/shard", hello);
  REQUIRE(hello.wants_ring());
  proto::SampleWelcome welcome;
  *welcome.mutable_ring() = (*writer)->address();
  ring.Open(welcome);
  REQUIRE(ring.reader() != nullptr);
  proto::SampleRequest request;
  REQUIRE(ring.Tell(request));
  ring.Told(request);
  REQUIRE_FALSE(ring.Tell(request));
  const std::string payload(kCapacity / 8, 'x');
  for (int eighth = 1; eighth <= 2; ++eighth) {
    const auto span = (*writer)->Write(payload);
    REQUIRE(span);
    REQUIRE(ring.reader()->Read(*span).ok());
    REQUIRE(ring.Tell(request) == (eighth == 2));
  }
  REQUIRE(request.ring_position() == kCapacity / 4);
}

}  // namespace
}  // namespace shoal::replay
