// SPDX-License-Identifier: Apache-2.0
// Inserters and samplers of shards that restart, die or stay away.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "platform/transport/protocol.h"
#include "platform/transport/server.h"
#include "platform/transport/server_stream.h"
#include "proto/replay.grpc.pb.h"
#include "replay/id_window.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/loopback_clients.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

TEST_CASE("a sampler counts the steps that a shard takes in, also over the shard's restart") {
  auto server = std::make_unique<ShardServer>(TableOptions{.max_size = 8});
  const std::string address = server->address();
  Clients clients({address});
  clients.AwaitLiveShards(1);
  const auto inserted = [&] { return clients.sampler->stats().inserted_steps_total; };
  // What came before the first item was heard of is not counted.
  clients.Insert(0);
  clients.Next();
  REQUIRE(inserted() == 0);
  for (std::uint64_t number = 1; number <= 3; ++number) clients.Insert(number);
  for (int i = 0; i < 3; ++i) clients.Next();
  REQUIRE(inserted() == 30);
  server.reset();
  server =
      std::make_unique<ShardServer>(TableOptions{.max_size = 8}, InsertStreamOptions{}, address);
  clients.AwaitLiveShards(1);
  for (std::uint64_t number = 4; number <= 5; ++number) clients.Insert(number);
  for (int i = 0; i < 2; ++i) clients.Next();
  REQUIRE(inserted() == 50);
}

TEST_CASE(
    "a shard that restarts loses what it held, and nothing unacknowledged is lost or doubled") {
  auto first = std::make_unique<ShardServer>(TableOptions{.max_size = 4});
  ShardServer second({.max_size = 4});
  const std::string address = first->address();
  Clients clients({address, second.address()});
  clients.AwaitLiveShards(2);
  IdWindow window(1000);
  std::uint64_t inserted = 0;
  const auto accept = [&window](const client::SampledUnroll& unroll) {
    return window.Add({.environment_id = unroll.unroll.id().environment_id()});
  };
  std::size_t trained = 0;
  for (; trained < 40; ++trained) {
    while (inserted < trained + 30) clients.Insert(inserted++);
    REQUIRE(accept(clients.Next()));
  }
  // The other one may have had them all so far.
  REQUIRE(doubles::Eventually([&] { return first->shard().stats().tables[0].inserted_total > 0; }));
  first.reset();
  first =
      std::make_unique<ShardServer>(TableOptions{.max_size = 4}, InsertStreamOptions{}, address);
  const auto insert_until = [&](std::uint64_t end) {
    while (inserted < end) {
      clients.Insert(inserted++);
      if (accept(clients.Next())) ++trained;
    }
  };
  insert_until(100);
  clients.AwaitLiveShards(2);
  insert_until(150);
  clients.inserter->Drain(std::chrono::milliseconds(0)).IgnoreError();
  while (clients.inserter->stats().waiting > 0 || clients.sampler->stats().waiting > 0 ||
         first->shard().stats().tables[0].size + second.shard().stats().tables[0].size > 0) {
    const auto unroll = clients.sampler->Next(std::chrono::milliseconds(50));
    if (unroll.ok() && accept(*unroll)) ++trained;
  }
  const client::InserterStats stats = clients.inserter->stats();
  REQUIRE(stats.inserted_total == 150);
  REQUIRE(stats.acknowledged_total == 150);
  REQUIRE(stats.dropped_total == 0);
  REQUIRE(first->shard().stats().tables[0].inserted_total > 0);
  REQUIRE(trained <= 150);
  REQUIRE(trained >= 150 - 4 - 16);
}

// A shard that takes one item and dies before it acknowledges it.
class DyingShard final : public proto::Replay::CallbackService {
 public:
  DyingShard() {
    auto server = transport::Server::Create({.listen = "127.0.0.1:0"}, {this});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  ~DyingShard() override { server_->Shutdown(std::chrono::milliseconds(0)); }

  const std::string& address() const { return server_->address(); }
  proto::Item AwaitItem() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const runtime::MutexLock lock(mutex_);
    while (!item_) REQUIRE(changed_.WaitUntil(mutex_, deadline));
    return *item_;
  }

 private:
  class Stream final : public transport::ServerStream<proto::InsertRequest, proto::InsertReply> {
   public:
    explicit Stream(DyingShard& shard) : ServerStream({}, shard.registry_), shard_(shard) {}

   private:
    void OnMessage(proto::InsertRequest&& request) override {
      if (request.has_hello()) {
        proto::InsertReply welcome;
        welcome.mutable_welcome()->set_protocol_version(transport::kProtocolVersion);
        welcome.set_credit(1);
        Send(std::move(welcome));
      } else if (request.items_size() > 0) {
        const runtime::MutexLock lock(shard_.mutex_);
        shard_.item_ = request.items(0);
        shard_.changed_.NotifyAll();
        Fail(runtime::Unavailable("the shard dies"));
      }
      Release();
    }
    DyingShard& shard_;
  };

  grpc::ServerBidiReactor<proto::InsertRequest, proto::InsertReply>* Insert(
      grpc::CallbackServerContext*) override {
    return std::make_shared<Stream>(*this)->Start();
  }

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::optional<proto::Item> item_ ABSL_GUARDED_BY(mutex_);
  transport::StreamRegistry registry_;
  std::unique_ptr<transport::Server> server_;
};

TEST_CASE("an item that a shard took and did not acknowledge goes to its successor, with its id") {
  auto dying = std::make_unique<DyingShard>();
  const std::string address = dying->address();
  Clients clients({address});
  clients.AwaitLiveShards(1);
  clients.Insert(1);
  const proto::Item first = dying->AwaitItem();
  dying.reset();
  ShardServer successor({}, {}, address);
  const client::SampledUnroll again = clients.Next();
  REQUIRE(again.unroll.id().SerializeAsString() == first.id().SerializeAsString());
  REQUIRE(again.times_sampled == 1);
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  REQUIRE(clients.inserter->stats().acknowledged_total == 1);
}

TEST_CASE("without a live shard nothing is taken, and the caller hears of the first one") {
  std::string address;
  {
    const ShardServer gone;
    address = gone.address();
  }
  Clients clients({address});
  proto::Item item = clients.Item(1);
  const absl::Status status = clients.inserter->TryInsert(std::move(item));
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(item.has_id());
  ShardServer server({}, {}, address);
  clients.Insert(1);
  REQUIRE(clients.Next().unroll.id().environment_id() == 1);
}

TEST_CASE("items of a shard that stays away are dropped and counted") {
  auto server = std::make_unique<ShardServer>(TableOptions{.max_size = 1});
  runtime::Metrics metrics;
  FakeProvider provider;
  auto inserter = *client::Inserter::Create({.addresses = {server->address()},
                                             .client = "test",
                                             .lost_after = std::chrono::milliseconds(100)},
                                            provider, metrics);
  std::uint64_t taken = 0;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (taken < 3 && std::chrono::steady_clock::now() < deadline) {
    if (inserter->TryInsert(ItemOf(taken)).ok()) ++taken;
  }
  REQUIRE(taken == 3);
  REQUIRE(doubles::Eventually([&] { return inserter->stats().acknowledged_total >= 1; }));
  server.reset();
  REQUIRE(inserter->Drain(kPatience).ok());
  REQUIRE(inserter->stats().dropped_total == 2);
}

}  // namespace
}  // namespace shoal::replay
