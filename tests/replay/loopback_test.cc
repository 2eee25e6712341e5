// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "platform/runtime/rendezvous_hashing.h"
#include "replay/client/inserter.h"
#include "replay/client/sampler.h"
#include "replay/client/shard_admin.h"
#include "replay/wire.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/client/trajectory.h"
#include "tests/replay/loopback_clients.h"
#include "tests/replay/memory_disk.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

using client::Inserter;
using client::Sampler;

TEST_CASE("an inserter states signatures on every connection, and a refused item is dropped") {
  auto server = std::make_optional<ShardServer>();
  const std::string address = server->address();
  Clients clients({address}, {.samples = false});
  const auto insert = [&clients](std::uint64_t number, const std::string& key) {
    proto::Item item = clients.Item(number);
    item.set_signature(key);
    return clients.inserter->TryInsert(std::move(item));
  };
  REQUIRE(absl::IsInvalidArgument(insert(1, KeyBytes("x FLOAT32 [4]"))));
  REQUIRE(absl::IsInvalidArgument(clients.inserter->StateSignature("none").status()));
  const auto four = clients.inserter->StateSignature("x FLOAT32 [4]");
  const auto five = clients.inserter->StateSignature("x FLOAT32 [5]");
  REQUIRE(four.ok());
  REQUIRE(five.ok());
  const auto settled = [&clients](std::uint64_t acknowledged, std::uint64_t dropped) {
    return doubles::Eventually([&] {
      const client::InserterStats stats = clients.inserter->stats();
      return stats.acknowledged_total == acknowledged && stats.dropped_total == dropped;
    });
  };
  clients.AwaitLiveShards(1);
  REQUIRE(insert(2, *four).ok());
  REQUIRE(insert(3, *five).ok());
  REQUIRE(settled(1, 1));
  server.reset();
  server.emplace(TableOptions{}, InsertStreamOptions{}, address);
  REQUIRE(doubles::Eventually([&] { return insert(4, *five).ok(); }));
  REQUIRE(settled(2, 1));
  REQUIRE(server->shard().tables()[0].signature == "x FLOAT32 [5]");
}

TEST_CASE("a sampler that expects other columns gets nothing, and is told which") {
  ShardServer server;
  Clients clients({server.address()}, {.samples = false});
  clients.sampler = *Sampler::Create(
      {.addresses = {server.address()}, .table = "unrolls", .signature = "x FLOAT32 [5]"},
      clients.sink, clients.metrics);
  REQUIRE(doubles::Eventually([&] { return clients.sampler->stats().live_shards == 1; }));
  const auto key = clients.inserter->StateSignature("x FLOAT32 [4]\ny INT8 []");
  clients.AwaitLiveShards(1);
  proto::Item item = clients.Item(1);
  item.set_signature(*key);
  REQUIRE(clients.inserter->TryInsert(std::move(item)).ok());
  std::string reason;
  REQUIRE(doubles::Eventually([&] {
    reason = runtime::Message(clients.sampler->Next(std::chrono::milliseconds(1)).status());
    return reason.find("column x") != std::string::npos;
  }));
  REQUIRE(reason == "no unroll came in 1 ms: replay shard at " + server.address() +
                        ": table unrolls: column x is FLOAT32 [4] in the table and FLOAT32 [5] "
                        "for the reader");
  REQUIRE(server.shard().stats().tables[0].sampled_total == 0);
}

TEST_CASE("samplers that wait for the same table each get their share of its items, in turns") {
  ShardServer server({.max_size = 8});
  Clients inserter({server.address()}, {.samples = false});
  inserter.AwaitLiveShards(1);
  std::vector<std::unique_ptr<Clients>> samplers;
  for (int i = 0; i < 3; ++i) {
    samplers.push_back(std::make_unique<Clients>(std::vector<std::string>{server.address()}));
  }
  REQUIRE(doubles::Eventually([&] {
    const auto answers = client::AskShards(std::vector<std::string>{server.address()}, kPatience);
    return answers[0]->tables(0).waiting_samplers() == samplers.size();
  }));
  for (std::uint64_t number = 0; number < 45; ++number) {
    inserter.Insert(number);
    REQUIRE(doubles::Eventually([&] {
      std::uint64_t received = 0;
      for (const auto& sampler : samplers) received += sampler->sampler->stats().received_total;
      return received == number + 1;
    }));
  }
  for (const auto& sampler : samplers) {
    REQUIRE(sampler->sampler->stats().received_total >= 10);
  }
}

TEST_CASE("inserters into a table that is always full get their turns") {
  ShardServer server({.max_size = 1});
  Clients sampler({server.address()});
  std::vector<std::unique_ptr<Clients>> inserters;
  constexpr std::uint64_t kEach = 40;
  for (std::uint64_t i = 0; i < 3; ++i) {
    inserters.push_back(std::make_unique<Clients>(std::vector<std::string>{server.address()},
                                                  ClientsOptions{.samples = false}));
    inserters.back()->AwaitLiveShards(1);
    for (std::uint64_t n = 0; n < kEach; ++n) inserters[i]->Insert(i * 1000 + n);
  }
  std::vector<int> got(inserters.size(), 0);
  // The first inserter was alone with the table and the sampler's queue.
  for (int i = 0; i < 17; ++i) sampler.Next();
  for (int i = 0; i < 60; ++i) ++got[sampler.Next().unroll.id().environment_id() / 1000];
  INFO(got[0] << " " << got[1] << " " << got[2]);
  for (const int count : got) REQUIRE(count >= 10);
}

TEST_CASE("what goes into two shards comes out, each once, after its contents") {
  ShardServer first({.max_size = 8});
  ShardServer second({.max_size = 8});
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

TEST_CASE("a uniform table gives items again and again, with the priorities that a learner gave") {
  ShardServer server({.sampler = SelectorKind::kUniform,
                      .remover = SelectorKind::kFifo,
                      .max_size = 8,
                      .max_times_sampled = 0,
                      .limiter = {.min_size = 8}});
  Clients clients({server.address()});
  clients.AwaitLiveShards(1);
  for (std::uint64_t i = 0; i < 10; ++i) clients.Insert(i);
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  REQUIRE(server.shard().stats().tables[0].evicted_for_room_total == 2);
  std::set<std::uint64_t> with_priority;
  std::uint32_t most = 0;
  for (int i = 0; with_priority.size() < 8; ++i) {
    REQUIRE(i < 100000);
    const client::SampledUnroll sampled = clients.Next();
    const std::uint64_t number = sampled.unroll.id().environment_id();
    REQUIRE(sampled.probability == Approx(1.0 / 8));
    REQUIRE(sampled.table_size == 8);
    most = std::max(most, sampled.times_sampled);
    if (number < 2) continue;
    if (sampled.priority == static_cast<float>(number)) with_priority.insert(number);
    const client::PriorityUpdate update{
        .shard = sampled.shard, .id = sampled.unroll.id(), .priority = static_cast<float>(number)};
    REQUIRE(clients.sampler->UpdatePriorities({&update, 1}).ok());
  }
  REQUIRE(most > 2);
}

TEST_CASE("prioritized shards are sampled like one table, and one that dies is left out") {
  const auto table = [](std::uint64_t seed) {
    return TableOptions{.sampler = SelectorKind::kPrioritized,
                        .remover = SelectorKind::kFifo,
                        .priority_exponent = 1,
                        .max_size = 64,
                        .max_times_sampled = 0,
                        .seed = seed};
  };
  ShardServer first(table(1));
  auto second = std::make_unique<ShardServer>(table(2));
  const auto fill = [](ShardServer& server, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t number = begin; number < end; ++number) {
      proto::Item wire = ItemOf(number);
      auto item = FromProto(wire, std::size_t{1} << 20).value();
      item->priority = static_cast<float>(number);
      REQUIRE(server.shard().Insert("unrolls", item).ok());
    }
  };
  // The items 1 to 3 are on one shard, 4 to 12 on the other: 6 and 72 of 78.
  fill(first, 1, 4);
  fill(*second, 4, 13);
  Clients clients({first.address(), second->address()});
  std::map<std::uint64_t, int> drawn;
  constexpr int kDraws = 60000;
  // The first draws may be made before both shards have spoken.
  REQUIRE(doubles::Eventually([&] {
    const auto unroll = clients.sampler->Next(kPatience);
    return unroll.ok() && unroll->table_size == 12;
  }));
  for (int i = 0; i < kDraws; ++i) {
    const auto unroll = clients.sampler->Next(kPatience);
    REQUIRE(unroll.ok());
    const std::uint64_t number = unroll->unroll.id().environment_id();
    if (i % 100 == 0) {
      REQUIRE(unroll->probability == Approx(static_cast<double>(number) / 78));
      REQUIRE(unroll->least_probability == Approx(1.0 / 78));
      REQUIRE(unroll->table_size == 12);
    }
    ++drawn[number];
  }
  double chi_square = 0;
  for (std::uint64_t number = 1; number <= 12; ++number) {
    const double mean = kDraws * static_cast<double>(number) / 78;
    chi_square += (drawn[number] - mean) * (drawn[number] - mean) / mean;
  }
  // With 11 degrees of freedom the statistic exceeds 31.3 for one run in a thousand.
  REQUIRE(chi_square < 31.3);

  second.reset();
  REQUIRE(doubles::Eventually([&] {
    const auto unroll = clients.sampler->Next(kPatience);
    return unroll.ok() && unroll->table_size == 3;
  }));
}

// Evicts every content as soon as it comes, and counts how often each came.
class ForgetfulSink final : public client::ContentSink {
 public:
  void AddEmbeddings(const proto::Embeddings& embeddings) override {
    for (std::size_t at = 0; at < embeddings.keys().size(); at += 16) {
      Add(embeddings.keys().substr(at, 16));
    }
  }
  void AddCatalog(const proto::Catalog& catalog) override { Add(catalog.key()); }
  void AddOverlay(const proto::Overlay& overlay) override { Add(overlay.key()); }
  std::vector<content::ContentKey> TakeForgotten() override {
    const runtime::MutexLock lock(mutex_);
    return std::exchange(added_, {});
  }
  int deliveries(const std::string& key) {
    const runtime::MutexLock lock(mutex_);
    return deliveries_[key];
  }

 private:
  void Add(const std::string& key) {
    const runtime::MutexLock lock(mutex_);
    ++deliveries_[key];
    added_.push_back(*content::ContentKey::FromBytes(std::string_view(key)));
  }

  runtime::Mutex mutex_;
  std::vector<content::ContentKey> added_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> deliveries_ ABSL_GUARDED_BY(mutex_);
};

TEST_CASE("a learner that lets contents go is given them again with every item that uses them") {
  ShardServer server;
  Clients clients({server.address()}, {.samples = false});
  clients.AwaitLiveShards(1);
  ForgetfulSink sink;
  const auto sampler = *Sampler::Create(
      {.addresses = {server.address()}, .client = "test", .table = "unrolls", .prefetch = 1}, sink,
      clients.metrics);
  for (int i = 1; i <= 10; ++i) {
    clients.Insert(static_cast<std::uint64_t>(7 * i));
    REQUIRE(sampler->Next(kPatience).ok());
    REQUIRE(sink.deliveries(KeyBytes("text 0")) == i);
    REQUIRE(sink.deliveries(clients.catalog.key()) == i);
    REQUIRE(sink.deliveries(KeyBytes("a")) == i);
  }
}

// The overlapping unrolls of one trajectory: eight rows that begin at every second row.
struct Overlapping {
  explicit Overlapping(std::uint64_t environment, std::size_t count)
      : random(environment), trajectory(static_cast<std::int64_t>(2 * count + 6), random) {
    client::ChunkEncoder encoder(1);
    client::ChunkWriter writer({.chunk_rows = 2, .item_rows = 8}, encoder);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t end = 2 * i + 8;
      REQUIRE(trajectory.AppendTo(writer, writer.rows(), end).ok());
      proto::Unroll rest = client::RestOf(environment);
      rest.mutable_id()->set_first_sequence(i);
      const auto ranges = client::AllColumns(trajectory, end - 8, end);
      whole.push_back(trajectory.Whole(rest, ranges).SerializeAsString());
      REQUIRE(writer.AddItem(client::ItemAround(rest), rest, ranges).ok());
      for (client::ChunkedItem& item : writer.TakeReady()) items.push_back(std::move(item));
    }
    REQUIRE(items.size() == count);
  }

  runtime::Random random;
  client::Trajectory trajectory;
  std::vector<client::ChunkedItem> items;
  std::vector<std::string> whole;
};

TEST_CASE(
    "overlapping unrolls come back whole, from both shards, to a sampler with little memory, and "
    "from one that has their chunks on disk") {
  constexpr std::size_t kUnrolls = 100;
  const TableOptions table{.sampler = SelectorKind::kUniform,
                           .remover = SelectorKind::kFifo,
                           .max_size = 40,
                           .max_times_sampled = 0};
  const ContentStoreOptions contents{.unused_capacity_bytes = 32768};
  auto journal = std::make_unique<MemoryDisk>();
  MemoryDisk& disk = *journal;
  // Its memory holds what it notes of chunks, and the data of a few.
  ShardServer first(table, {}, "127.0.0.1:0",
                    {.memory_bytes = 28672, .unused_capacity_bytes = 32768}, std::move(journal));
  ShardServer second(table, {}, "127.0.0.1:0", contents);
  std::vector<std::string> addresses = {first.address(), second.address()};
  // One environment of each shard.
  std::vector<Overlapping> trajectories;
  for (std::size_t shard = 0; shard < 2; ++shard) {
    const runtime::Place places[] = {{.name = addresses[0]}, {.name = addresses[1]}};
    std::uint64_t environment = 0;
    while (runtime::HomeOf(environment, places) != shard) ++environment;
    trajectories.emplace_back(environment, kUnrolls);
  }
  // An environment stays with its shard, whose outbox is never full.
  Clients clients(addresses, {.outbox_items = kUnrolls + 1, .samples = false});
  clients.AwaitLiveShards(2);
  // Its memory holds about one item of each shard, so that it forgets chunks all the time.
  const auto sampler = *Sampler::Create({.addresses = std::move(addresses),
                                         .client = "test",
                                         .table = "unrolls",
                                         .prefetch = 8,
                                         .chunk_bytes = 16384},
                                        clients.sink, clients.metrics);
  std::size_t sampled = 0;
  const auto check_one = [&] {
    const auto unroll = sampler->Next(kPatience);
    REQUIRE(unroll.ok());
    REQUIRE(unroll->unroll.SerializeAsString() ==
            trajectories[unroll->shard].whole[unroll->unroll.id().first_sequence()]);
    ++sampled;
  };
  for (std::size_t i = 0; i < kUnrolls; ++i) {
    for (Overlapping& trajectory : trajectories) {
      REQUIRE(clients.inserter->TryInsert(std::move(trajectory.items[i])).ok());
    }
    disk.Write();
    check_one();
  }
  REQUIRE(doubles::Eventually([&] {
    disk.Write();
    return clients.inserter->stats().acknowledged_total == 2 * kUnrolls;
  }));
  REQUIRE(clients.inserter->Drain(kPatience).ok());
  INFO(first.shard().stats().content_bytes);
  REQUIRE(first.shard().stats().content_disk_bytes > 0);
  for (int i = 0; i < 2000; ++i) check_one();
  REQUIRE(sampler->stats().dropped_invalid_total == 0);
  for (ShardServer* const server : {&first, &second}) {
    const ShardStats stats = server->shard().stats();
    REQUIRE(stats.tables[0].size == 40);
    // Each further unroll shares three of its four chunks: 40 unrolls have 43 of the 104, and the
    // layout. Of the others a quarter of 32 KiB may be left.
    REQUIRE(stats.chunk_count >= 44);
    REQUIRE(stats.chunk_bytes <= stats.unused_content_bytes + 44 * 1024);
    REQUIRE(stats.unused_content_bytes <= 32768 / 4 + 1024);
  }
}

TEST_CASE("a full outbox pushes back, bounded, and says when there is room") {
  ShardServer server({.max_size = 2});
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
  REQUIRE(server.shard().Sample("unrolls", reader, 1, 1).samples.size() == 1);
  clients.Insert(taken);
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
