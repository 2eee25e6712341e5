// SPDX-License-Identifier: Apache-2.0
#include "replay/service.h"

#include <catch2/catch.hpp>

#include "platform/transport/protocol.h"
#include "replay/client/shard_admin.h"
#include "replay/wire.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_peer.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

TEST_CASE("each item is answered for itself and the stream lives on") {
  ShardServer server({}, {.max_item_bytes = 4096});
  Peer peer(server.address());
  const auto call = peer.Insert();
  proto::InsertReply reply;
  REQUIRE(call->Read(&reply));
  REQUIRE(reply.credit() > 0);

  proto::InsertRequest request;
  *request.add_items() = ItemOf(1);
  *request.add_items() = ItemOf(2, 0, 5000);
  *request.add_items() = ItemOf(3);
  request.mutable_items(2)->set_table("others");
  *request.add_items() = ItemOf(4);
  request.mutable_items(3)->add_content_keys(KeyBytes("unknown"));
  *request.add_items() = ItemOf(5);
  request.mutable_items(4)->add_content_keys("short");
  *request.add_items() = ItemOf(1);
  reply = Exchange(*call, request);
  std::vector<int> codes;
  for (const auto& status : reply.items()) codes.push_back(status.code());
  REQUIRE(codes == std::vector<int>{grpc::OK, grpc::INVALID_ARGUMENT, grpc::FAILED_PRECONDITION,
                                    grpc::NOT_FOUND, grpc::INVALID_ARGUMENT, grpc::OK});
  REQUIRE(reply.items(1).message().find("4096") != std::string::npos);
  REQUIRE(Exchange(*call, ItemOf(6)).items(0).code() == grpc::OK);
  REQUIRE(server.shard().stats().tables[0].size == 2);
  REQUIRE(server.shard().stats().tables[0].duplicates_total == 1);
  call->WritesDone();
  REQUIRE(call->Finish().ok());
}

TEST_CASE("a table takes the first signature and refuses items of another, by column and shapes") {
  ShardServer server;
  const auto with_signature = [](std::uint64_t number, const std::string& text) {
    proto::Item item = ItemOf(number);
    item.set_signature(KeyBytes(text));
    return item;
  };
  const std::string four = "reward FLOAT32 []\nx FLOAT32 [4]";
  const std::string five = "reward FLOAT32 []\nx FLOAT32 [5]";
  Peer first(server.address());
  auto call = first.Insert();
  ReadWelcome(*call);
  REQUIRE(Exchange(*call, with_signature(1, four)).items(0).code() == grpc::INVALID_ARGUMENT);
  proto::InsertRequest request;
  request.add_signatures(four);
  request.add_signatures(five);
  for (std::uint64_t i = 2; i < 4; ++i) *request.add_items() = with_signature(i, four);
  *request.add_items() = with_signature(4, five);
  const proto::InsertReply reply = Exchange(*call, request);
  REQUIRE(reply.items(0).code() == grpc::OK);
  REQUIRE(reply.items(1).code() == grpc::OK);
  REQUIRE(reply.items(2).code() == grpc::FAILED_PRECONDITION);
  REQUIRE(reply.items(2).message() ==
          "table unrolls: column x is FLOAT32 [4] in the table and FLOAT32 [5] in the item");
  // Another stream, and thus another process, is held to it as well.
  Peer second(server.address());
  auto other = second.Insert();
  ReadWelcome(*other);
  request.clear_items();
  *request.add_items() = with_signature(5, five);
  REQUIRE(Exchange(*other, request).items(0).code() == grpc::FAILED_PRECONDITION);
  REQUIRE(Exchange(*other, ItemOf(6)).items(0).code() == grpc::OK);

  Peer asker(server.address());
  proto::InfoReply info;
  REQUIRE(asker.stub->Info(&asker.context, {}, &info).ok());
  REQUIRE(info.tables(0).signature() == four);
}

TEST_CASE("a table with a configured signature refuses items that state none") {
  ShardServer server({.signature = *Signature::Parse("x INT8 []")});
  Peer peer(server.address());
  auto call = peer.Insert();
  ReadWelcome(*call);
  const proto::InsertReply reply = Exchange(*call, ItemOf(1));
  REQUIRE(reply.items(0).code() == grpc::FAILED_PRECONDITION);
  REQUIRE(reply.items(0).message() == "table unrolls has a signature, the item states none");
}

TEST_CASE("a stream that states no signature or too many ends with a clear error") {
  ShardServer server;
  const auto finish = [&server](const proto::InsertRequest& request) {
    Peer peer(server.address());
    auto call = peer.Insert();
    REQUIRE(call->Write(request));
    proto::InsertReply reply;
    while (call->Read(&reply)) {
    }
    return call->Finish();
  };
  proto::InsertRequest request;
  request.add_signatures("what is this");
  REQUIRE(finish(request).error_code() == grpc::INVALID_ARGUMENT);
  request.clear_signatures();
  for (int i = 0; i < 65; ++i) request.add_signatures("x INT8 [" + std::to_string(i) + "]");
  REQUIRE(finish(request).error_message() == "a stream states at most 64 signatures");
}

TEST_CASE("contents that are not what their key says leave the item unknown, and nothing breaks") {
  ShardServer server;
  Peer peer(server.address());
  const auto call = peer.Insert();
  proto::InsertReply reply;
  REQUIRE(call->Read(&reply));
  proto::InsertRequest request;
  const std::vector<std::string> keys = {KeyBytes("a")};
  *request.add_embeddings() = EmbeddingsOf(keys);
  *request.add_catalogs() = CatalogOf(keys);
  request.mutable_catalogs(0)->set_key(KeyBytes("another"));
  *request.add_items() = ItemOf(1);
  request.mutable_items(0)->add_content_keys(keys[0]);
  request.mutable_items(0)->add_catalog_keys(KeyBytes("another"));
  REQUIRE(Exchange(*call, request).items(0).code() == grpc::NOT_FOUND);
  *request.mutable_catalogs(0) = CatalogOf(keys);
  request.mutable_items(0)->set_catalog_keys(0, request.catalogs(0).key());
  REQUIRE(Exchange(*call, request).items(0).code() == grpc::OK);
}

TEST_CASE("an inserting stream without hello or of another protocol ends with a clear error") {
  ShardServer server;
  const auto end_of = [&server](const proto::InsertRequest& first) {
    Peer peer(server.address());
    const auto call = peer.stub->Insert(&peer.context);
    call->Write(first);
    proto::InsertReply reply;
    while (call->Read(&reply)) {
    }
    return call->Finish();
  };
  proto::InsertRequest request;
  REQUIRE(end_of(request).error_code() == grpc::INVALID_ARGUMENT);
  request.mutable_hello()->set_client("inference-0");
  request.mutable_hello()->set_protocol_version(99);
  const grpc::Status status = end_of(request);
  REQUIRE(status.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(status.error_message().starts_with(
      "inference-0 speaks protocol 99, this replay shard speaks " +
      std::to_string(transport::kProtocolVersion) + ":"));
}

TEST_CASE("a full table gives no credit until a sample makes room") {
  ShardServer server({.max_size = 1});
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  REQUIRE(reply.credit() == 1);
  REQUIRE(Exchange(*insert, ItemOf(1)).credit() == 0);
  reply = Exchange(*insert, ItemOf(2));
  REQUIRE(reply.items(0).code() == grpc::RESOURCE_EXHAUSTED);
  REQUIRE(reply.credit() == 0);

  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items(0).item().id().environment_id() == 1);
  REQUIRE(insert->Read(&reply));
  REQUIRE(reply.items_size() == 0);
  REQUIRE(reply.credit() == 1);
  REQUIRE(Exchange(*insert, ItemOf(2)).items(0).code() == grpc::OK);
}

TEST_CASE("a shard full of contents in use puts items off with the reason until there is room") {
  const proto::Embeddings one = ItemWithContent(1).embeddings(0);
  const std::size_t bytes = FromProto(one)->front().bytes();
  ShardServer server({}, {}, "127.0.0.1:0",
                     {.capacity_bytes = 2 * bytes, .unused_capacity_bytes = 2 * bytes});
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  for (std::uint64_t i = 1; i <= 2; ++i) {
    REQUIRE(Exchange(*insert, ItemWithContent(i)).items(0).code() == grpc::OK);
  }
  reply = Exchange(*insert, ItemWithContent(3));
  REQUIRE(reply.items(0).code() == grpc::RESOURCE_EXHAUSTED);
  REQUIRE(reply.items(0).message().find("contents in use fill the shard") != std::string::npos);
  REQUIRE(reply.items(0).missing_keys_size() == 1);
  REQUIRE(reply.items(0).missing_keys(0) == KeyBytes("text 3"));
  REQUIRE(reply.credit() == 0);
  REQUIRE(server.shard().stats().content_bytes == 2 * bytes);

  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(insert->Read(&reply));
  REQUIRE(reply.items_size() == 0);
  REQUIRE(reply.credit() > 0);
  REQUIRE(Exchange(*insert, ItemWithContent(3)).items(0).code() == grpc::OK);
}

TEST_CASE("a client that sends half of an item's chunks is told which are missing") {
  ShardServer server({}, {.max_item_bytes = 4096});
  Peer peer(server.address());
  const auto call = peer.Insert();
  proto::InsertReply reply;
  REQUIRE(call->Read(&reply));
  proto::InsertRequest request;
  *request.add_chunks() = ChunkWith("first");
  *request.add_chunks() = ChunkWith("second");
  // It is not what its key says, and another is larger than the shard takes.
  request.mutable_chunks(1)->set_data("torn");
  *request.add_chunks() = ChunkWith(std::string(5000, 'x'));
  proto::Item& item = *request.add_items();
  item = ItemOf(1);
  for (const char* data : {"first", "second"}) item.add_chunk_keys(KeyBytes(data));
  item.add_chunk_keys(KeyBytes(std::string(5000, 'x')));
  reply = Exchange(*call, request);
  REQUIRE(reply.items(0).code() == grpc::NOT_FOUND);
  REQUIRE(reply.items(0).missing_keys_size() == 2);
  REQUIRE(reply.items(0).missing_keys(0) == KeyBytes("second"));
  REQUIRE(server.shard().stats().chunk_count == 1);

  item.mutable_chunk_keys()->RemoveLast();
  request.clear_chunks();
  *request.add_chunks() = ChunkWith("second");
  REQUIRE(Exchange(*call, request).items(0).code() == grpc::OK);
  item.set_chunk_keys(0, "short");
  REQUIRE(Exchange(*call, request).items(0).code() == grpc::INVALID_ARGUMENT);

  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.chunks_size() == 2);
  REQUIRE(sampled.chunks(0).data() == "first");
  REQUIRE(sampled.items(0).item().chunk_keys_size() == 2);
  // Nobody uses them any more.
  REQUIRE(server.shard().stats().chunk_bytes == server.shard().stats().unused_content_bytes);
}

TEST_CASE("a table is changed over Configure, and Info says what holds and who waits for what") {
  ShardServer server(*TableKnobs{}.ForShard({}));
  const std::vector<std::string> addresses = {server.address()};
  const auto configure = [&](const std::vector<std::string>& settings) {
    return client::ConfigureShards(addresses, "unrolls", settings, std::chrono::seconds(10))[0]
        .status();
  };
  const auto info = [&] {
    const auto answers = client::AskShards(addresses, std::chrono::seconds(10));
    REQUIRE(answers[0].ok());
    return answers[0]->tables(0);
  };
  REQUIRE(info().sample_wait() == "min_size");
  REQUIRE(info().insert_wait().empty());
  REQUIRE(configure({"max_size=2", "min_size=2"}).ok());
  REQUIRE(info().max_size() == 2);

  Peer inserter(server.address());
  const auto insert = inserter.Insert();
  ReadWelcome(*insert);
  Peer sampler(server.address());
  const auto sample = sampler.Sample(8);
  REQUIRE(Exchange(*insert, ItemOf(1)).credit() == 1);
  proto::TableInfo table = info();
  REQUIRE(table.size() == 1);
  REQUIRE(table.min_size() == 2);
  REQUIRE(table.sample_wait() == "min_size");
  REQUIRE(table.waiting_samplers() == 1);
  REQUIRE(table.waiting_inserters() == 0);

  const absl::Status refused = configure({"max_size=1"});
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(refused.message() == "table unrolls: min_size 2 is above max_size 1");
  REQUIRE(configure({"max_size=1", "min_size=1"}).ok());
  proto::SampleReply reply;
  while (reply.items_size() == 0) REQUIRE(sample->Read(&reply));
  REQUIRE(configure({"min_size=1", "samples_per_insert=1"}).ok());
}

TEST_CASE("an inserter that has no credit waits for the table that it named, with the reason") {
  ShardServer server({.max_size = 1});
  Peer peer(server.address());
  const auto insert = peer.Insert();
  ReadWelcome(*insert);
  REQUIRE(Exchange(*insert, ItemOf(1)).credit() == 0);
  const std::vector<std::string> addresses = {server.address()};
  const auto answers = client::AskShards(addresses, std::chrono::seconds(10));
  REQUIRE(answers[0]->tables(0).insert_wait() == "max_size");
  REQUIRE(answers[0]->tables(0).waiting_inserters() == 1);
  REQUIRE(answers[0]->tables(0).waiting_samplers() == 0);
}

TEST_CASE("a shard that is away costs its own answer alone") {
  ShardServer server;
  const std::vector<std::string> addresses = {"127.0.0.1:1", server.address()};
  const auto answers = client::AskShards(addresses, std::chrono::seconds(10));
  REQUIRE(absl::IsUnavailable(answers[0].status()));
  REQUIRE(answers[1].ok());
}

TEST_CASE("draining ends all streams with UNAVAILABLE and refuses new ones") {
  ShardServer server;
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  Peer sampling(server.address());
  const auto sample = sampling.Sample(5);
  REQUIRE(server.Drain());
  REQUIRE_FALSE(insert->Read(&reply));
  REQUIRE(insert->Finish().error_code() == grpc::UNAVAILABLE);
  proto::SampleReply sampled;
  while (sample->Read(&sampled)) REQUIRE(sampled.items_size() == 0);
  REQUIRE(sample->Finish().error_code() == grpc::UNAVAILABLE);
}

}  // namespace
}  // namespace shoal::replay
