// SPDX-License-Identifier: Apache-2.0
#include "replay/client/incoming_reply.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "platform/runtime/random.h"
#include "replay/outgoing.h"
#include "tests/replay/messages.h"

namespace shoal::replay::client {
namespace {

// The bytes in pieces of random sizes, as they might come from a socket.
grpc::ByteBuffer Pieces(const std::string& bytes, std::size_t most, runtime::Random& random) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min<std::size_t>(bytes.size() - at, 1 + random.Below(most));
    slices.emplace_back(bytes.data() + at, size);
    at += size;
  }
  return {slices.data(), slices.size()};
}

proto::SampleReply ReplyOf(const std::vector<std::size_t>& sizes) {
  proto::SampleReply reply;
  reply.set_inserted_steps(9);
  *reply.add_catalogs() = CatalogOf({KeyBytes("a"), KeyBytes("b")});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    proto::SampledItem& sampled = *reply.add_items();
    *sampled.mutable_item() = ItemOf(i, i, sizes[i]);
    sampled.set_probability(0.5);
    sampled.set_times_sampled(static_cast<std::uint32_t>(i + 1));
  }
  return reply;
}

TEST_CASE("a reply reads the same whether its payloads are large or small, and in what pieces") {
  runtime::Random random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> sizes(random.Below(5));
    for (std::size_t& size : sizes) size = random.Below(2 * kReferencedBytes);
    proto::SampleReply expected = ReplyOf(sizes);
    grpc::ByteBuffer buffer =
        Pieces(expected.SerializeAsString(), round % 2 == 0 ? 100 : 30000, random);
    IncomingReply incoming;
    REQUIRE(Decode(buffer, incoming));
    const bool apart =
        std::ranges::any_of(sizes, [](std::size_t size) { return size >= kReferencedBytes; });
    if (apart) REQUIRE(incoming.unrolls.size() == sizes.size());
    for (int i = 0; i < expected.items_size(); ++i) {
      proto::Unroll unroll;
      REQUIRE(TakeUnroll(incoming, i, nullptr, unroll));
      proto::Item& item = *expected.mutable_items(i)->mutable_item();
      REQUIRE(unroll.SerializeAsString() == item.payload());
      if (!incoming.unrolls.empty()) item.clear_payload();
    }
    REQUIRE(incoming.reply.SerializeAsString() == expected.SerializeAsString());
  }
}

TEST_CASE("a large payload is parsed where it came, and stands nowhere else") {
  const proto::SampleReply expected = ReplyOf({10, kReferencedBytes, 20});
  const grpc::Slice whole(expected.SerializeAsString());
  grpc::ByteBuffer buffer(&whole, 1);
  IncomingReply incoming;
  REQUIRE(Decode(buffer, incoming));
  REQUIRE(incoming.unrolls.size() == 3);
  for (const proto::SampledItem& sampled : incoming.reply.items()) {
    REQUIRE(sampled.item().payload().empty());
  }
  REQUIRE(incoming.unrolls[1]->SerializeAsString() == expected.items(1).item().payload());
}

TEST_CASE("a large payload that is no unroll costs its item, and no other of the reply") {
  proto::SampleReply reply = ReplyOf({10, 20, 30, 40});
  reply.mutable_items(1)->mutable_item()->set_payload(std::string(kReferencedBytes, '\xff'));
  std::string cut = ReplyOf({kReferencedBytes}).items(0).item().payload();
  cut.resize(cut.size() - 1);
  // A zero is no tag, also where everything before it is sound.
  reply.mutable_items(0)->mutable_item()->mutable_payload()->append(3, '\0');
  reply.mutable_items(2)->mutable_item()->set_payload(cut);
  runtime::Random random(3);
  grpc::ByteBuffer buffer = Pieces(reply.SerializeAsString(), 1000, random);
  IncomingReply incoming;
  REQUIRE(Decode(buffer, incoming));
  for (int i = 0; i < 4; ++i) {
    proto::Unroll unroll;
    REQUIRE(TakeUnroll(incoming, i, nullptr, unroll) == (i == 3));
  }
}

TEST_CASE("a reply that was cut off or changed is refused or read, and harms nothing") {
  runtime::Random random(2);
  const std::string sound = ReplyOf({kReferencedBytes, 5}).SerializeAsString();
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = sound;
    if (round % 2 == 0) bytes.resize(random.Below(bytes.size()));
    for (int i = 0; i < round % 4; ++i) {
      // Most numbers and lengths stand at the two ends.
      const std::size_t at = random.Below(std::min<std::size_t>(bytes.size() + 1, 200));
      if (at < bytes.size()) bytes[at] = static_cast<char>(random());
    }
    grpc::ByteBuffer buffer = Pieces(bytes, 5000, random);
    IncomingReply incoming;
    proto::SampleReply plain;
    const bool read = Decode(buffer, incoming);
    // What protobuf takes in one piece is taken apart, too, and the other way round.
    REQUIRE(read == plain.ParseFromString(bytes));
    if (!read) continue;
    REQUIRE(incoming.reply.items_size() == plain.items_size());
    for (int i = 0; i < plain.items_size(); ++i) {
      proto::Unroll unroll;
      proto::Unroll expected;
      REQUIRE(TakeUnroll(incoming, i, nullptr, unroll) ==
              expected.ParseFromString(plain.items(i).item().payload()));
    }
  }
}

}  // namespace
}  // namespace shoal::replay::client
