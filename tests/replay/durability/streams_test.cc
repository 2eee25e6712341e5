// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "replay/durability/disk_journal.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/lossy_env.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay::durability {
namespace {

using doubles::Eventually;

class DurableServer {
 public:
  DurableServer() {
    auto journal = DiskJournal::Create({.directory = folder_.At("shard-0"),
                                        .checkpoints = folder_.At("checkpoints"),
                                        .retry = std::chrono::milliseconds(1),
                                        .env = &env});
    REQUIRE(journal.ok());
    server_ = std::make_unique<ShardServer>(TableOptions{.durability = Durability::kAlways},
                                            InsertStreamOptions{}, "127.0.0.1:0",
                                            ContentStoreOptions{}, *std::move(journal));
    REQUIRE(Eventually([&] { return shard().stats().journal.waiting_changes == 0; }));
  }
  Shard& shard() { return server_->shard(); }
  std::unique_ptr<proto::Replay::Stub> Stub() {
    return proto::Replay::NewStub(transport::CreateChannel(server_->address()));
  }

  std::string At(const std::string& name) const { return folder_.At(name); }

  LossyEnv env;

 private:
  doubles::TemporaryFolder folder_;
  std::unique_ptr<ShardServer> server_;
};

proto::InsertRequest InsertHello() {
  proto::InsertRequest request;
  request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
  return request;
}

TEST_CASE("an item is acknowledged once the disk has it, and a refusal does not wait for that") {
  DurableServer server;
  const auto stub = server.Stub();
  grpc::ClientContext context;
  const auto call = stub->Insert(&context);
  REQUIRE(call->Write(InsertHello()));
  proto::InsertReply reply;
  REQUIRE(call->Read(&reply));

  server.env.HoldSyncs(true);
  proto::InsertRequest request;
  *request.add_items() = ItemOf(1);
  *request.add_items() = ItemOf(2);
  request.mutable_items(1)->set_table("others");
  REQUIRE(call->Write(request));
  REQUIRE(call->Read(&reply));
  REQUIRE(reply.items_size() == 1);
  REQUIRE(reply.items(0).code() == grpc::FAILED_PRECONDITION);
  REQUIRE(server.shard().stats().tables[0].size == 1);

  server.env.HoldSyncs(false);
  REQUIRE(call->Read(&reply));
  REQUIRE(reply.items_size() == 1);
  REQUIRE(reply.items(0).code() == grpc::OK);
  REQUIRE(reply.items(0).id().environment_id() == 1);
  REQUIRE(reply.credit() > 0);
  REQUIRE(server.shard().stats().journal.waiting_changes == 0);
}

TEST_CASE("an item is not given out before the disk knows of the use") {
  DurableServer server;
  const auto stub = server.Stub();
  grpc::ClientContext inserting;
  const auto insert = stub->Insert(&inserting);
  proto::InsertRequest request = InsertHello();
  *request.add_items() = ItemOf(1);
  REQUIRE(insert->Write(request));
  REQUIRE(Eventually([&] { return server.shard().stats().tables[0].size == 1; }));
  REQUIRE(Eventually([&] { return server.shard().stats().journal.waiting_changes == 0; }));

  const auto sample = [&](grpc::ClientContext& context) {
    auto call = stub->Sample(&context);
    proto::SampleRequest hello;
    hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    hello.mutable_hello()->set_table("unrolls");
    hello.mutable_hello()->set_world(1);
    hello.set_credit(1);
    REQUIRE(call->Write(hello));
    proto::SampleReply welcome;
    REQUIRE(call->Read(&welcome));
    return call;
  };
  server.env.HoldSyncs(true);
  grpc::ClientContext sampling;
  const auto call = sample(sampling);
  REQUIRE(Eventually([&] { return server.shard().stats().tables[0].sampled_total == 1; }));
  sampling.TryCancel();
  proto::SampleReply reply;
  REQUIRE_FALSE(call->Read(&reply));

  server.env.HoldSyncs(false);
  *request.mutable_items(0) = ItemOf(2);
  REQUIRE(insert->Write(request));
  grpc::ClientContext again;
  const auto other = sample(again);
  REQUIRE(other->Read(&reply));
  REQUIRE(reply.items(0).item().id().environment_id() == 2);
}

TEST_CASE("a checkpoint and an exclusion are answered when they are on disk") {
  DurableServer server;
  const auto stub = server.Stub();
  {
    grpc::ClientContext inserting;
    const auto insert = stub->Insert(&inserting);
    proto::InsertRequest request = InsertHello();
    for (std::uint64_t step = 1; step <= 4; ++step) *request.add_items() = ItemOf(step, step);
    REQUIRE(insert->Write(request));
    REQUIRE(Eventually([&] { return server.shard().stats().tables[0].size == 4; }));
    inserting.TryCancel();
  }
  grpc::ClientContext checkpointing;
  proto::CheckpointRequest checkpoint;
  checkpoint.set_learner_checkpoint("step-2");
  proto::CheckpointReply written;
  REQUIRE(stub->Checkpoint(&checkpointing, checkpoint, &written).ok());
  REQUIRE(written.directory() == server.At("checkpoints/step-2/shard-0"));
  REQUIRE(std::filesystem::exists(written.directory()));
  grpc::ClientContext again;
  REQUIRE(stub->Checkpoint(&again, checkpoint, &written).error_code() == grpc::FAILED_PRECONDITION);

  grpc::ClientContext excluding;
  proto::ExcludeRequest range;
  range.set_epoch(1);
  range.set_first_step(2);
  range.set_last_step(3);
  proto::ExcludeReply excluded;
  REQUIRE(stub->Exclude(&excluding, range, &excluded).ok());
  REQUIRE(excluded.removed() == 2);
  REQUIRE(server.shard().stats().journal.waiting_changes == 0);
  range.set_first_step(4);
  grpc::ClientContext empty;
  REQUIRE(stub->Exclude(&empty, range, &excluded).error_code() == grpc::INVALID_ARGUMENT);
  range.set_epoch(3);
  range.set_last_epoch(2);
  range.set_last_step(5);
  grpc::ClientContext backwards;
  REQUIRE(stub->Exclude(&backwards, range, &excluded).error_code() == grpc::INVALID_ARGUMENT);
  range.set_epoch(1);
  grpc::ClientContext longer;
  REQUIRE(stub->Exclude(&longer, range, &excluded).ok());
  REQUIRE(excluded.removed() == 1);

  grpc::ClientContext asking;
  proto::InfoReply info;
  REQUIRE(stub->Info(&asking, {}, &info).ok());
  REQUIRE(info.learner_checkpoint() == "step-2");
  REQUIRE(info.tables(0).size() == 1);
}

}  // namespace
}  // namespace shoal::replay::durability
