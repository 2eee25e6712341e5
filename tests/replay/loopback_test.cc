// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "replay/client/inserter.h"
#include "replay/client/sampler.h"
#include "replay/id_window.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

using client::Inserter;
using client::Sampler;

constexpr std::chrono::seconds kPatience{20};

struct ClientsOptions {
  std::uint32_t max_lag = 0;
  std::size_t outbox_items = 64;
  bool samples = true;
};

// Clients of some shards, as inference and the learner have them.
struct Clients {
  explicit Clients(std::vector<std::string> addresses, const ClientsOptions& options = {}) {
    catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
    provider.catalogs[catalog.key()] = catalog;
    inserter = *Inserter::Create(
        {.addresses = addresses, .client = "test", .outbox_items = options.outbox_items}, provider,
        metrics);
    inserter->OnSpace([this] {
      const runtime::MutexLock lock(mutex);
      ++space;
      changed.NotifyAll();
    });
    if (!options.samples) return;
    sampler = *Sampler::Create({.addresses = std::move(addresses),
                                .client = "test",
                                .table = "unrolls",
                                .prefetch = 16,
                                .max_lag = options.max_lag},
                               sink, metrics);
  }

  proto::Item Item(std::uint64_t number, std::uint64_t step = 0) const {
    proto::Item item = ItemOf(number, step);
    item.add_content_keys(KeyBytes("text " + std::to_string(number % 7)));
    item.add_catalog_keys(catalog.key());
    return item;
  }

  // Waits for room like an inference server whose environments are parked.
  void Insert(std::uint64_t number, std::uint64_t step = 0) {
    proto::Item item = Item(number, step);
    for (;;) {
      int seen = 0;
      {
        const runtime::MutexLock lock(mutex);
        seen = space;
      }
      const absl::Status status = inserter->TryInsert(std::move(item));
      if (status.ok()) return;
      REQUIRE(absl::IsResourceExhausted(status));
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      const runtime::MutexLock lock(mutex);
      while (space == seen) REQUIRE(changed.WaitUntil(mutex, deadline));
    }
  }

  void AwaitLiveShards(std::size_t shards) const {
    REQUIRE(doubles::Eventually([&] { return inserter->stats().live_shards >= shards; }));
  }

  client::SampledUnroll Next() {
    auto unroll = sampler->Next(kPatience);
    REQUIRE(unroll.ok());
    const std::uint64_t number = unroll->unroll.id().environment_id();
    REQUIRE(sink.Has(KeyBytes("text " + std::to_string(number % 7))));
    REQUIRE(sink.Has(KeyBytes("a")));
    REQUIRE(sink.Has(catalog.key()));
    return *std::move(unroll);
  }

  runtime::Metrics metrics;
  FakeProvider provider;
  FakeSink sink;
  proto::Catalog catalog;
  runtime::Mutex mutex;
  runtime::CondVar changed;
  int space ABSL_GUARDED_BY(mutex) = 0;
  std::unique_ptr<Inserter> inserter;
  std::unique_ptr<Sampler> sampler;
};

TEST_CASE("what goes into two shards comes out, each once, after its contents") {
  ShardServer first({.capacity_items = 8});
  ShardServer second({.capacity_items = 8});
  Clients clients({first.address(), second.address()});
  clients.AwaitLiveShards(2);
  std::set<std::uint64_t> seen;
  std::map<std::size_t, int> shards;
  std::uint64_t inserted = 0;
  while (seen.size() < 200) {
    while (inserted < 200 && inserted < seen.size() + 20) clients.Insert(inserted++);
    const client::SampledUnroll unroll = clients.Next();
    REQUIRE(seen.insert(unroll.unroll.id().environment_id()).second);
    REQUIRE(unroll.times_sampled == 1);
    REQUIRE(unroll.steps == 10);
    ++shards[unroll.shard];
  }
  REQUIRE(shards.size() == 2);
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  REQUIRE(clients.inserter->stats().acknowledged_total == 200);
  REQUIRE(absl::IsCancelled(clients.inserter->TryInsert(ItemOf(999))));
}

TEST_CASE(
    "a shard that restarts loses what it held, and nothing unacknowledged is lost or doubled") {
  auto first = std::make_unique<ShardServer>(TableOptions{.capacity_items = 4});
  ShardServer second({.capacity_items = 4});
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
  const std::uint64_t taken_before = first->shard().stats().tables[0].inserted_total;
  REQUIRE(taken_before > 0);
  first.reset();
  first = std::make_unique<ShardServer>(TableOptions{.capacity_items = 4}, InsertStreamOptions{},
                                        address);
  while (inserted < 150) {
    clients.Insert(inserted++);
    if (accept(clients.Next())) ++trained;
  }
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

TEST_CASE("a full outbox pushes back, bounded, and says when there is room") {
  ShardServer server({.capacity_items = 2});
  Clients clients({server.address()}, {.outbox_items = 3, .samples = false});
  std::uint64_t taken = 0;
  clients.Insert(taken++);
  for (;;) {
    if (!clients.inserter->TryInsert(clients.Item(taken)).ok()) {
      if (taken >= 5) break;
      clients.Insert(taken);
    }
    ++taken;
  }
  REQUIRE(taken == 5);
  REQUIRE(clients.inserter->stats().waiting == 3);
  REQUIRE(server.shard().stats().tables[0].size == 2);
  const int reader = *server.shard().OpenReader();
  REQUIRE(server.shard().Draw("unrolls", reader, 1, 1).samples.size() == 1);
  clients.Insert(taken);
}

TEST_CASE("items of a shard that stays away are dropped and counted") {
  auto server = std::make_unique<ShardServer>(TableOptions{.capacity_items = 1});
  runtime::Metrics metrics;
  FakeProvider provider;
  auto inserter = *Inserter::Create({.addresses = {server->address()},
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

TEST_CASE("stale unrolls are not returned, whether the shard or the queue holds them") {
  ShardServer server;
  Clients clients({server.address()}, {.max_lag = 1});
  for (std::uint64_t step = 0; step < 3; ++step) clients.Insert(step, step);
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (clients.sampler->stats().waiting < 3 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  proto::PolicyVersion current;
  current.set_epoch(1);
  current.set_step(3);
  clients.sampler->SetCurrentVersion(current);
  REQUIRE(clients.Next().unroll.id().environment_id() == 2);
  REQUIRE(clients.sampler->stats().dropped_stale_total == 2);
}

TEST_CASE("a payload that is no unroll of the item's id is dropped and counted") {
  ShardServer server;
  Clients clients({server.address()});
  proto::Item item = clients.Item(1);
  item.mutable_id()->set_environment_id(2);
  REQUIRE(doubles::Eventually([&] { return clients.inserter->TryInsert(std::move(item)).ok(); }));
  clients.Insert(3);
  REQUIRE(clients.Next().unroll.id().environment_id() == 3);
  REQUIRE(clients.sampler->stats().dropped_invalid_total == 1);
}

TEST_CASE("closing a sampler wakes whoever waits for it") {
  ShardServer server;
  Clients clients({server.address()});
  REQUIRE(absl::IsDeadlineExceeded(clients.sampler->Next(std::chrono::milliseconds(1)).status()));
  runtime::Thread closer("closer", [&clients] { clients.sampler->Close(); });
  REQUIRE(absl::IsCancelled(clients.sampler->Next(kPatience).status()));
}

TEST_CASE("clients without addresses or table are refused") {
  runtime::Metrics metrics;
  FakeProvider provider;
  FakeSink sink;
  REQUIRE(absl::IsInvalidArgument(Inserter::Create({}, provider, metrics).status()));
  REQUIRE(absl::IsInvalidArgument(Sampler::Create({.table = "t"}, sink, metrics).status()));
  REQUIRE(absl::IsInvalidArgument(
      Sampler::Create({.addresses = {"127.0.0.1:1"}}, sink, metrics).status()));
}

}  // namespace
}  // namespace shoal::replay
