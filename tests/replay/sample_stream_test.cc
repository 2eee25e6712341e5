// SPDX-License-Identifier: Apache-2.0
// Sampling from a shard's service, by a test that speaks gRPC itself.
#include <catch2/catch.hpp>
#include <limits>

#include "platform/transport/protocol.h"
#include "replay/wire.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_peer.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

grpc::Status EndOfSample(const ShardServer& server, const proto::SampleHello& hello) {
  Peer peer(server.address());
  const auto call = peer.stub->Sample(&peer.context);
  proto::SampleRequest request;
  *request.mutable_hello() = hello;
  REQUIRE(call->Write(request));
  proto::SampleReply reply;
  while (call->Read(&reply)) {
  }
  return call->Finish();
}

TEST_CASE("a sampling stream is refused for its protocol, its table or its rank, by name") {
  ShardServer server;
  proto::SampleHello hello;
  hello.set_client("learner-0");
  hello.set_protocol_version(99);
  grpc::Status end = EndOfSample(server, hello);
  REQUIRE(end.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(
      end.error_message().starts_with("learner-0 speaks protocol 99, this replay shard speaks"));
  hello.set_protocol_version(transport::kProtocolVersion);
  hello.set_table("others");
  end = EndOfSample(server, hello);
  REQUIRE(end.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(end.error_message().find("others") != std::string::npos);
  hello.set_table("unrolls");
  hello.set_rank(2);
  hello.set_world(2);
  end = EndOfSample(server, hello);
  REQUIRE(end.error_code() == grpc::INVALID_ARGUMENT);
  REQUIRE(end.error_message() == "hello: rank 2 of 2");
}

TEST_CASE("priorities are updated over Sample, and one that is no number ends the stream") {
  ShardServer server({.max_times_sampled = 2});
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  REQUIRE(Exchange(*insert, ItemOf(1)).items(0).code() == grpc::OK);

  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items(0).item().priority() == 0);
  proto::SampleRequest request;
  for (std::uint64_t id = 1; id <= 2; ++id) {
    proto::PriorityUpdate& update = *request.add_priorities();
    *update.mutable_id() = ItemOf(id).id();
    update.set_priority(2.5F);
  }
  request.set_credit(1);
  REQUIRE(sample->Write(request));
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items(0).item().priority() == 2.5F);
  REQUIRE(sampled.items(0).times_sampled() == 2);
  REQUIRE(server.shard().stats().tables[0].priority_updates_total == 1);

  request.mutable_priorities(0)->set_priority(-1);
  REQUIRE(sample->Write(request));
  REQUIRE_FALSE(sample->Read(&sampled));
  REQUIRE(sample->Finish().error_code() == grpc::INVALID_ARGUMENT);
}

TEST_CASE("a shard says how many forgotten keys it has heard, before it sends anything again") {
  ShardServer server({.max_times_sampled = 0, .max_staleness = 1});
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply inserted;
  REQUIRE(insert->Read(&inserted));
  proto::InsertRequest request;
  *request.add_chunks() = ChunkWith("rows");
  *request.add_items() = ItemOf(1);
  request.mutable_items(0)->add_chunk_keys(KeyBytes("rows"));
  REQUIRE(Exchange(*insert, request).items(0).code() == grpc::OK);
  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.chunks_size() == 1);
  REQUIRE(sampled.forgotten_total() == 0);
  proto::SampleRequest forget;
  forget.add_forgotten_keys(KeyBytes("rows"));
  forget.add_forgotten_keys(KeyBytes("unknown"));
  REQUIRE(sample->Write(forget));
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.forgotten_total() == 2);
  REQUIRE(sampled.items_size() == 0);
  forget.set_credit(1);
  REQUIRE(sample->Write(forget));
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.forgotten_total() == 4);
  REQUIRE(sampled.chunks_size() == 1);
  REQUIRE(sampled.items_size() == 1);
}

TEST_CASE(
    "a sampler without credit is told of another least weight and of another number of items") {
  ShardServer server({.sampler = SelectorKind::kPrioritized,
                      .remover = SelectorKind::kFifo,
                      .priority_exponent = 1,
                      .max_times_sampled = 0});
  const auto insert = [&server](std::uint64_t number, float priority) {
    proto::Item message = ItemOf(number);
    message.set_priority(priority);
    auto item = FromProto(message, std::size_t{1} << 20).value();
    REQUIRE(server.shard().Insert("unrolls", item).ok());
  };
  for (std::uint64_t i = 0; i < 10; ++i) insert(i, 100);
  insert(10, 10);
  Peer sampling(server.address());
  const auto sample = sampling.Sample(0);
  proto::SampleReply reply;
  // The sum changes by a hundredth at most, so that it alone would not be told.
  const PriorityUpdate lighter{.id = {.environment_id = 10, .incarnation = 1, .first_sequence = 0},
                               .priority = 1};
  REQUIRE(server.shard().Update("unrolls", {&lighter, 1}) == 1);
  REQUIRE(sample->Read(&reply));
  REQUIRE(reply.mass().least() == 1);
  REQUIRE(reply.mass().sum() == 1001);
  insert(11, 0);
  REQUIRE(sample->Read(&reply));
  REQUIRE(reply.mass().size() == 12);
  REQUIRE(reply.mass().sum() == 1001);
}

TEST_CASE("a content that a sampling client forgot comes again before the next item that uses it") {
  ShardServer server({.max_times_sampled = 3});
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  REQUIRE(Exchange(*insert, ItemWithContent(1)).items(0).code() == grpc::OK);
  Peer sampling(server.address());
  const auto sample = sampling.Sample(1);
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.embeddings_size() == 1);
  proto::SampleRequest request;
  request.set_credit(1);
  REQUIRE(sample->Write(request));
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items_size() == 1);
  REQUIRE(sampled.embeddings_size() == 0);
  request.add_forgotten_keys(KeyBytes("text 1"));
  REQUIRE(sample->Write(request));
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items_size() == 1);
  REQUIRE(sampled.embeddings_size() == 1);
  REQUIRE(sampled.embeddings(0).keys() == KeyBytes("text 1"));

  request.set_forgotten_keys(0, "short");
  REQUIRE(sample->Write(request));
  REQUIRE_FALSE(sample->Read(&sampled));
  REQUIRE(sample->Finish().error_code() == grpc::INVALID_ARGUMENT);
}

TEST_CASE("the streams of a learner group end when a later group samples from the table") {
  ShardServer server;
  Peer old_group(server.address());
  const auto old_stream = old_group.Sample(1, 0, 4);
  Peer new_group(server.address());
  const auto new_stream = new_group.Sample(1, 0, 5);
  proto::SampleReply reply;
  while (old_stream->Read(&reply)) REQUIRE(reply.items_size() == 0);
  const grpc::Status end = old_stream->Finish();
  REQUIRE(end.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(end.error_message() ==
          "table unrolls: a learner group of epoch 5 samples from it, this one is of epoch 4");
}

TEST_CASE("no more items come than credit was given, and later ones when they are there") {
  ShardServer server;
  Peer sampling(server.address());
  const auto sample = sampling.Sample(3);
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  for (std::uint64_t i = 0; i < 5; ++i) {
    REQUIRE(Exchange(*insert, ItemOf(i)).items(0).code() == grpc::OK);
  }
  std::uint64_t next = 0;
  const auto read = [&](std::uint64_t until) {
    while (next < until) {
      proto::SampleReply sampled;
      REQUIRE(sample->Read(&sampled));
      for (const auto& item : sampled.items()) {
        REQUIRE(item.item().id().environment_id() == next++);
      }
    }
    REQUIRE(next == until);
  };
  read(3);
  REQUIRE(server.shard().stats().tables[0].size == 2);
  proto::SampleRequest more;
  more.set_credit(2);
  REQUIRE(sample->Write(more));
  read(5);
}

TEST_CASE("a client with credit is told again and again what the table waits for") {
  ShardServer server({.max_times_sampled = 1,
                      .limiter = {.min_size = 1, .samples_per_insert = 1, .error_buffer = 0}});
  Peer inserter(server.address());
  const auto inserts = inserter.Insert();
  ReadWelcome(*inserts);
  REQUIRE(Exchange(*inserts, ItemOf(1)).items(0).code() == grpc::OK);
  Peer sampler(server.address());
  const auto samples = sampler.Sample(2);
  proto::SampleReply reply;
  REQUIRE(samples->Read(&reply));
  REQUIRE(reply.items_size() == 1);
  REQUIRE(reply.wait().empty());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(samples->Read(&reply));
    REQUIRE(reply.wait() == "min_size");
  }
  proto::Item second = ItemOf(2);
  auto item = FromProto(second, std::size_t{1} << 20).value();
  REQUIRE(server.shard().Insert("unrolls", item).ok());
  while (reply.items_size() == 0) REQUIRE(samples->Read(&reply));
  REQUIRE(reply.wait().empty());
}

TEST_CASE("in lock step nothing is given before the round has ended after which it was asked for") {
  ShardServer server({.sampler = SelectorKind::kUniform,
                      .remover = SelectorKind::kFifo,
                      .max_size = 8,
                      .max_times_sampled = 0});
  Peer inserter(server.address());
  const auto inserts = inserter.Insert();
  ReadWelcome(*inserts);
  const auto insert = [&](std::uint64_t environment, std::uint64_t played, bool ends) {
    proto::Item item = ItemOf(environment, played);
    if (ends) *item.mutable_ends_round() = item.newest_version();
    REQUIRE(Exchange(*inserts, item).items(0).code() == grpc::OK);
  };
  insert(1, 0, /*ends=*/true);
  Peer sampler(server.address());
  const auto samples = sampler.Sample(0);
  const auto ask = [&](std::uint64_t played) {
    proto::SampleRequest request;
    request.set_credit(2);
    request.mutable_after_round()->set_epoch(1);
    request.mutable_after_round()->set_step(played);
    REQUIRE(samples->Write(request));
  };
  proto::SampleReply reply;
  ask(0);
  while (reply.items_size() == 0) REQUIRE(samples->Read(&reply));
  REQUIRE(reply.items_size() == 2);
  ask(1);
  insert(2, 1, /*ends=*/false);
  do {
    REQUIRE(samples->Read(&reply));
    REQUIRE(reply.items_size() == 0);
  } while (reply.wait() != "round");
  insert(3, 1, /*ends=*/true);
  while (reply.items_size() == 0) REQUIRE(samples->Read(&reply));
  REQUIRE(reply.items_size() == 2);
  for (const proto::SampledItem& item : reply.items()) REQUIRE(item.table_size() == 3);
  // A round of a newer version counts as well: nobody will play the older one again.
  insert(4, 3, /*ends=*/true);
  ask(2);
  reply.Clear();
  while (reply.items_size() == 0) REQUIRE(samples->Read(&reply));
  REQUIRE(reply.items(0).table_size() == 4);
}

TEST_CASE("a newer version evicts what is stale before anything is given out") {
  ShardServer server;
  Peer inserting(server.address());
  const auto insert = inserting.Insert();
  proto::InsertReply reply;
  REQUIRE(insert->Read(&reply));
  for (std::uint64_t step = 0; step < 4; ++step) Exchange(*insert, ItemOf(step, step));
  Peer sampling(server.address());
  const auto sample = sampling.Sample(0, 1);
  proto::SampleRequest request;
  request.set_credit(1);
  request.mutable_current_version()->set_epoch(1);
  request.mutable_current_version()->set_step(3);
  REQUIRE(sample->Write(request));
  proto::SampleReply sampled;
  REQUIRE(sample->Read(&sampled));
  REQUIRE(sampled.items(0).item().id().environment_id() == 2);

  Peer asking(server.address());
  proto::InfoReply info;
  REQUIRE(asking.stub->Info(&asking.context, {}, &info).ok());
  REQUIRE(info.tables(0).evicted_stale_total() == 2);
  REQUIRE(info.tables(0).inserted_total() == 4);
  REQUIRE(info.tables(0).size() == 1);
}

}  // namespace
}  // namespace shoal::replay
