// SPDX-License-Identifier: Apache-2.0
// Clients of a shard of their own process, which need no sockets.
#include <catch2/catch.hpp>
#include <string>

#include "tests/doubles/eventually.h"
#include "tests/replay/loopback_clients.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

// Nobody serves it.
const std::string kAddress = "127.0.0.1:1";

// Clients that reach `server` at an address where nobody listens.
ClientsOptions Within(const ShardServer& server) {
  return {.connect = [&server](const std::string& address) {
    REQUIRE(address == kAddress);
    return server.server().InProcessChannel();
  }};
}

TEST_CASE("clients of a shard in their process insert and sample without a socket") {
  const ShardServer server({.max_size = 64});
  Clients clients({kAddress}, Within(server));
  constexpr std::uint64_t kItems = 500;
  std::uint64_t sampled = 0;
  for (std::uint64_t number = 0; number < kItems; ++number) {
    clients.Insert(number);
    if (number >= 32) REQUIRE(clients.Next().unroll.id().environment_id() == sampled++);
  }
  while (sampled < kItems) REQUIRE(clients.Next().unroll.id().environment_id() == sampled++);
  REQUIRE(clients.inserter->stats().dropped_total == 0);
}

TEST_CASE("a large payload arrives whole within a process") {
  constexpr std::size_t kLarge = 3'000'000;
  const ShardServer server;
  Clients clients({kAddress}, Within(server));
  for (std::uint64_t number = 0; number < 20; ++number) {
    proto::Item item = ItemOf(number, number, kLarge);
    REQUIRE(doubles::Eventually([&] { return clients.inserter->TryInsert(std::move(item)).ok(); }));
    const auto sampled = clients.sampler->Next(kPatience);
    REQUIRE(sampled.ok());
    REQUIRE(sampled->unroll.SerializeAsString() == ItemOf(number, number, kLarge).payload());
  }
}

}  // namespace
}  // namespace shoal::replay
