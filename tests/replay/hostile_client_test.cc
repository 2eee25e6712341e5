// SPDX-License-Identifier: Apache-2.0
// What a shard makes of clients that are many, or that do not read what they asked for.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "platform/runtime/thread.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_peer.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

constexpr std::chrono::minutes kCallLimit{2};

// A client that may take longer than others, since the machine may do much else.
struct PatientPeer : Peer {
  explicit PatientPeer(const std::string& address) : Peer(address) {
    context.set_deadline(std::chrono::system_clock::now() + kCallLimit);
  }
};

// Lets this process have so many descriptors, as far as it may. Returns how many it has.
rlim_t AllowDescriptors(rlim_t wanted) {
  rlimit limit = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit.rlim_cur;
}

TEST_CASE("a thousand connections insert into one shard, and each is answered") {
  constexpr std::size_t kWanted = 1000;
  // Both ends of each connection are in this process.
  const std::size_t clients = std::min<std::size_t>(kWanted, (AllowDescriptors(4096) - 200) / 3);
  if (clients < kWanted) WARN("descriptors suffice for " << clients << " connections only");
  ShardServer server({.max_size = 1000});
  std::vector<std::unique_ptr<PatientPeer>> peers;
  std::vector<std::unique_ptr<InsertCall>> calls;
  for (std::size_t i = 0; i < clients; ++i) {
    peers.push_back(std::make_unique<PatientPeer>(server.address()));
    calls.push_back(peers.back()->Insert());
  }
  for (std::size_t i = 0; i < clients; ++i) {
    ReadWelcome(*calls[i]);
    REQUIRE(Exchange(*calls[i], ItemOf(i)).items(0).code() == grpc::OK);
  }
  REQUIRE(server.shard().stats().tables[0].size == clients);
  PatientPeer sampler(server.address());
  const auto samples = sampler.Sample(static_cast<std::uint32_t>(clients));
  std::size_t sampled = 0;
  proto::SampleReply reply;
  while (sampled < clients) {
    REQUIRE(samples->Read(&reply));
    sampled += static_cast<std::size_t>(reply.items_size());
  }
}

TEST_CASE("a sampler that stops reading holds a few messages, and others go on") {
  constexpr std::size_t kBytes = 100'000;
  constexpr std::size_t kItems = 1000;
  ShardServer server(
      {.sampler = SelectorKind::kUniform, .remover = SelectorKind::kFifo, .max_times_sampled = 0});
  PatientPeer inserter(server.address());
  const auto inserts = inserter.Insert();
  ReadWelcome(*inserts);
  for (std::uint64_t i = 0; i < 4; ++i) Exchange(*inserts, ItemOf(i, 0, kBytes));

  PatientPeer lazy(server.address());
  const auto unread = lazy.Sample(1 << 20);
  PatientPeer busy(server.address());
  const auto samples = busy.Sample(kItems);
  std::size_t sampled = 0;
  proto::SampleReply reply;
  while (sampled < kItems) {
    REQUIRE(samples->Read(&reply));
    sampled += static_cast<std::size_t>(reply.items_size());
  }
  // Two messages of 1 MiB wait at the shard, and some megabytes are on their way.
  const std::uint64_t held = server.shard().stats().tables[0].sampled_total - kItems;
  REQUIRE(held * kBytes < std::size_t{32} << 20);
  lazy.context.TryCancel();
}

TEST_CASE("an inserter that reads no answers is stopped from writing, and others go on") {
  // The table never fills, so that the other client can insert for as long as it takes.
  ShardServer server({.remover = SelectorKind::kFifo, .max_size = 1024});
  PatientPeer lazy(server.address());
  const auto unanswered = lazy.Insert();
  ReadWelcome(*unanswered);
  // An answer is some 100 KB: each item is refused by name.
  proto::InsertRequest request;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    *request.add_items() = ItemOf(i);
    request.mutable_items(static_cast<int>(i))->set_table("a table that there is not");
  }
  std::atomic<int> written = 0;
  runtime::Thread writer("lazy", [&] {
    while (written < 10'000 && unanswered->Write(request)) ++written;
  });
  PatientPeer busy(server.address());
  const auto inserts = busy.Insert();
  ReadWelcome(*inserts);
  std::uint64_t number = 0;
  // The writer stands still while the other client is answered a hundred times.
  REQUIRE(doubles::Eventually([&] {
    const int before = written;
    for (int i = 0; i < 100; ++i) {
      REQUIRE(Exchange(*inserts, ItemOf(number++)).items(0).code() == grpc::OK);
    }
    return before > 16 && written == before;
  }));
  REQUIRE(written < 1000);
  lazy.context.TryCancel();
  writer.Join();
}

}  // namespace
}  // namespace shoal::replay
