// SPDX-License-Identifier: Apache-2.0
// Large payloads between clients and a shard of the same host, through rings.
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/client/stream_ring.h"
#include "replay/outgoing.h"
#include "replay/shared_ring.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/loopback_clients.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_peer.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kLarge = 400000;

// Inserts items of these numbers, samples each once, and checks that they are whole. Every second
// item is inserted with its unroll as a message.
void PassThrough(Clients& clients, std::uint64_t first, std::uint64_t last, std::size_t padding) {
  for (std::uint64_t number = first; number <= last; ++number) {
    proto::Item item = ItemOf(number, number, padding);
    const proto::Unroll unroll = UnrollOf(number, padding);
    if (number % 2 == 0) item.clear_payload();
    REQUIRE(doubles::Eventually([&] {
      return (number % 2 == 0 ? clients.inserter->TryInsert(std::move(item), unroll)
                              : clients.inserter->TryInsert(std::move(item)))
          .ok();
    }));
    const auto sampled = clients.sampler->Next(kPatience);
    REQUIRE(sampled.ok());
    REQUIRE(sampled->unroll.id().environment_id() == number);
    REQUIRE(sampled->unroll.SerializeAsString() == ItemOf(number, number, padding).payload());
  }
}

TEST_CASE("large payloads go through shared memory where the shard is on this host") {
  const doubles::TemporaryFolder folder;
  const ShardServer server({}, {}, "unix:" + folder.At("shard"));
  Clients clients({server.address()});
  // More than a ring has room for at once.
  constexpr std::uint64_t kItems = 2 * kRingBytes / kLarge;
  PassThrough(clients, 1, kItems, kLarge);
  // An item is counted after it was sent.
  REQUIRE(doubles::Eventually(
      [&] { return clients.inserter->stats().shared_bytes_total > kItems * kLarge; }));
  REQUIRE(clients.sampler->stats().shared_bytes_total > (kItems - 20) * kLarge);
  // Messages were serialised there.
  REQUIRE(clients.inserter->stats().copied_bytes_total > (kItems / 2 - 1) * kLarge);
  REQUIRE(clients.inserter->stats().copied_bytes_total < (kItems / 2 + 1) * (kLarge + 100));
  const std::uint64_t before = clients.inserter->stats().shared_bytes_total;
  PassThrough(clients, kItems + 1, kItems + 10, 10);
  REQUIRE(clients.inserter->stats().shared_bytes_total == before);
}

TEST_CASE("a payload that is larger than a ring goes through the socket") {
  const doubles::TemporaryFolder folder;
  const ShardServer server({}, {.max_item_bytes = 2 * kRingBytes}, "unix:" + folder.At("shard"));
  Clients clients({server.address()});
  clients.inserter = *client::Inserter::Create({.addresses = {server.address()},
                                                .outbox_bytes = 4 * kRingBytes,
                                                .max_item_bytes = 2 * kRingBytes},
                                               clients.provider, clients.metrics);
  PassThrough(clients, 1, 2, kRingBytes + 1);
  REQUIRE(clients.inserter->stats().shared_bytes_total == 0);
  REQUIRE(clients.sampler->stats().shared_bytes_total == 0);
}

TEST_CASE("payloads go through a network as they did") {
  const ShardServer server;
  Clients clients({server.address()});
  PassThrough(clients, 1, 20, kLarge);
  REQUIRE(clients.inserter->stats().shared_bytes_total == 0);
  REQUIRE(clients.sampler->stats().shared_bytes_total == 0);
}

TEST_CASE("a shard that starts anew has other rings") {
  const doubles::TemporaryFolder folder;
  const std::string address = "unix:" + folder.At("shard");
  auto server = std::make_optional<ShardServer>(TableOptions{}, InsertStreamOptions{}, address);
  Clients clients({address});
  PassThrough(clients, 1, 20, kLarge);
  server.reset();
  server.emplace(TableOptions{}, InsertStreamOptions{}, address);
  const std::uint64_t inserted = clients.inserter->stats().shared_bytes_total;
  const std::uint64_t sampled = clients.sampler->stats().shared_bytes_total;
  PassThrough(clients, 21, 40, kLarge);
  REQUIRE(clients.inserter->stats().shared_bytes_total > inserted + 19 * kLarge);
  REQUIRE(clients.sampler->stats().shared_bytes_total > sampled);
}

TEST_CASE("what a shard has not answered comes whole to its successor, out of the ring before") {
  const doubles::TemporaryFolder folder;
  const std::string address = "unix:" + folder.At("shard");
  constexpr std::size_t kTaken = 4;
  constexpr std::size_t kItems = 20;
  auto server = std::make_optional<ShardServer>(TableOptions{.max_size = kTaken},
                                                InsertStreamOptions{}, address);
  Clients clients({address}, {.samples = false});
  REQUIRE(doubles::Eventually([&] { return clients.inserter->stats().live_shards == 1; }));
  for (std::uint64_t number = 0; number < kItems; ++number) {
    proto::Item item = ItemOf(number);
    item.clear_payload();
    REQUIRE(clients.inserter->TryInsert(std::move(item), UnrollOf(number, kLarge)).ok());
  }
  REQUIRE(
      doubles::Eventually([&] { return clients.inserter->stats().acknowledged_total == kTaken; }));
  REQUIRE(clients.inserter->stats().copied_bytes_total == 0);
  server.reset();
  server.emplace(TableOptions{}, InsertStreamOptions{}, address);
  const Clients readers({address});
  std::set<std::uint64_t> came;
  for (std::size_t i = kTaken; i < kItems; ++i) {
    const auto sampled = readers.sampler->Next(kPatience);
    REQUIRE(sampled.ok());
    REQUIRE(came.insert(sampled->unroll.id().environment_id()).second);
    REQUIRE(sampled->unroll.SerializeAsString() ==
            UnrollOf(sampled->unroll.id().environment_id(), kLarge).SerializeAsString());
  }
  REQUIRE(*came.begin() == kTaken);
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  REQUIRE(clients.inserter->stats().copied_bytes_total > (kItems - kTaken) * kLarge);
}

TEST_CASE("a stream's ring gives no blocks once the stream has ended") {
  client::InsertRing ring;
  proto::InsertHello hello;
  ring.Offer("unix:/tmp/shard", hello);
  REQUIRE(hello.has_ring());
  REQUIRE(ring.blocks() == nullptr);
  proto::InsertReply reply;
  reply.mutable_welcome()->set_reads_ring(true);
  ring.Follow(reply);
  const auto blocks = ring.blocks();
  REQUIRE(blocks->Allocate(100) != nullptr);
  ring.Close();
  REQUIRE(ring.blocks() == nullptr);
  REQUIRE(blocks->Allocate(100) == nullptr);
  proto::InsertHello other;
  ring.Offer("10.0.0.1:7000", other);
  REQUIRE_FALSE(other.has_ring());
}

TEST_CASE("a stream has no ring while items keep those of three earlier ones") {
  client::InsertRing ring;
  std::vector<std::shared_ptr<client::RingBlock>> kept;
  const auto has_ring = [&ring] {
    proto::InsertHello hello;
    ring.Offer("unix:/tmp/shard", hello);
    return hello.has_ring();
  };
  proto::InsertReply reply;
  reply.mutable_welcome()->set_reads_ring(true);
  for (std::size_t i = 0; i < client::InsertRing::kMostEarlier; ++i) {
    // Of many streams whose blocks are all back none counts.
    for (int many = 0; many < 10; ++many) REQUIRE(has_ring());
    ring.Follow(reply);
    kept.push_back(ring.blocks()->Allocate(100));
  }
  REQUIRE_FALSE(has_ring());
  ring.Follow(reply);
  REQUIRE(ring.blocks() == nullptr);
  kept.erase(kept.begin() + 1);
  REQUIRE(has_ring());
}

TEST_CASE("an item with two payloads is refused") {
  const ShardServer server;
  Clients clients({server.address()}, {.samples = false});
  REQUIRE(absl::IsInvalidArgument(clients.inserter->TryInsert(ItemOf(1), UnrollOf(1))));
}

// An insert stream over a socket in the file system, whose hello offers this ring.
std::unique_ptr<InsertCall> Offering(Peer& peer, const proto::RingAddress& ring, bool& accepted) {
  auto call = peer.stub->Insert(&peer.context);
  proto::InsertRequest hello;
  hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
  *hello.mutable_hello()->mutable_ring() = ring;
  Write(*call, hello);
  proto::InsertReply welcome;
  REQUIRE(call->Read(&welcome));
  accepted = welcome.welcome().reads_ring();
  return call;
}

proto::Item InRing(std::uint64_t number, const proto::RingSpan& span) {
  proto::Item item = ItemOf(number);
  item.clear_payload();
  *item.mutable_shared_payload() = span;
  return item;
}

TEST_CASE("a shard stores what it finds in a ring, and refuses alone what is not there") {
  const doubles::TemporaryFolder folder;
  ShardServer server({}, {.max_item_bytes = 4096}, "unix:" + folder.At("shard"));
  auto ring = *RingWriter::Create(100000);
  Peer peer(server.address());
  bool accepted = false;
  const auto call = Offering(peer, ring->address(), accepted);
  REQUIRE(accepted);
  const auto first = ring->Write(ItemOf(1).payload());
  proto::InsertReply reply = Exchange(*call, InRing(1, *first));
  REQUIRE(reply.items(0).code() == grpc::OK);
  proto::RingSpan outside;
  outside.set_position(99999);
  outside.set_bytes(2);
  REQUIRE(Exchange(*call, InRing(2, outside)).items(0).code() == grpc::INVALID_ARGUMENT);
  reply = Exchange(*call, InRing(3, *ring->Write(std::string(4097, 'x'))));
  REQUIRE(reply.items(0).code() == grpc::INVALID_ARGUMENT);
  REQUIRE(reply.items(0).message().find("4096") != std::string::npos);
  // An item that is sent again is still where it was.
  REQUIRE(Exchange(*call, InRing(1, *first)).items(0).code() == grpc::OK);
  REQUIRE(Exchange(*call, ItemOf(4)).items(0).code() == grpc::OK);
  REQUIRE(server.shard().stats().tables[0].size == 2);
}

TEST_CASE("a shard takes a ring neither over a network nor from another process than was named") {
  const doubles::TemporaryFolder folder;
  const ShardServer local({}, {}, "unix:" + folder.At("shard"));
  const ShardServer remote;
  auto ring = *RingWriter::Create(100000);
  proto::RingAddress wrong = ring->address();
  wrong.set_secret(std::string(16, 'x'));
  for (const auto& [address, offered] :
       {std::pair(local.address(), wrong), std::pair(remote.address(), ring->address())}) {
    Peer peer(address);
    bool accepted = true;
    const auto call = Offering(peer, offered, accepted);
    REQUIRE_FALSE(accepted);
    const auto span = ring->Write(ItemOf(1).payload());
    REQUIRE(Exchange(*call, InRing(1, *span)).items(0).code() == grpc::INVALID_ARGUMENT);
    REQUIRE(Exchange(*call, ItemOf(2)).items(0).code() == grpc::OK);
  }
}

TEST_CASE("a sampler that frees more of its ring than it was given ends its stream alone") {
  const doubles::TemporaryFolder folder;
  const ShardServer server({}, {}, "unix:" + folder.At("shard"));
  Peer peer(server.address());
  const auto call = peer.stub->Sample(&peer.context);
  proto::SampleRequest request;
  request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
  request.mutable_hello()->set_table("unrolls");
  request.mutable_hello()->set_world(1);
  request.mutable_hello()->set_wants_ring(true);
  Write(*call, request);
  proto::SampleReply reply;
  REQUIRE(call->Read(&reply));
  REQUIRE(RingReader::Open(reply.welcome().ring()).ok());
  request.Clear();
  request.set_reads_ring(true);
  request.set_ring_position(1);
  Write(*call, request);
  while (call->Read(&reply)) {
  }
  REQUIRE(call->Finish().error_code() == grpc::INVALID_ARGUMENT);
  Clients clients({server.address()});
  PassThrough(clients, 1, 3, kLarge);
}

}  // namespace
}  // namespace shoal::replay
