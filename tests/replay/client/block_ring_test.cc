// SPDX-License-Identifier: Apache-2.0
#include "replay/client/block_ring.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "replay/client/placed_payload.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/messages.h"

namespace shoal::replay::client {
namespace {

constexpr std::size_t kCapacity = 10000;

std::shared_ptr<BlockRing> NewRing() {
  auto ring = BlockRing::Create(kCapacity);
  REQUIRE(ring.ok());
  return *std::move(ring);
}

TEST_CASE("blocks keep their bytes until they are given back, in whatever order") {
  const auto ring = NewRing();
  const auto reader = *RingReader::Open(ring->address());
  struct Filled {
    std::shared_ptr<RingBlock> block;
    std::string bytes;
  };
  std::vector<Filled> kept;
  runtime::Random random(1);
  int full = 0;
  std::size_t given = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t size = 1 + random.Below(kCapacity / 8);
    if (auto block = ring->Allocate(size)) {
      std::string bytes(size, static_cast<char>(round));
      bytes.copy(block->data(), size);
      kept.push_back({std::move(block), std::move(bytes)});
      given += size;
      if (random.Below(3) > 0) continue;
    } else {
      ++full;
    }
    REQUIRE_FALSE(kept.empty());
    const auto which = kept.begin() + static_cast<std::ptrdiff_t>(random.Below(kept.size()));
    REQUIRE(which->block->bytes() == which->bytes);
    REQUIRE(*reader->View(which->block->span()) == which->bytes);
    kept.erase(which);
  }
  REQUIRE(full > 100);
  REQUIRE(given > 100 * kCapacity);
  kept.clear();
  REQUIRE(ring->Allocate(kCapacity) != nullptr);
}

TEST_CASE("a ring has no block for nothing, for more than it holds, and once it is closed") {
  const auto ring = NewRing();
  REQUIRE(ring->Allocate(0) == nullptr);
  REQUIRE(ring->Allocate(kCapacity + 1) == nullptr);
  auto block = ring->Allocate(6000);
  REQUIRE(ring->Allocate(4001) == nullptr);
  ring->Close();
  REQUIRE(ring->Allocate(1) == nullptr);
  block.reset();
  REQUIRE(ring->Allocate(1) == nullptr);
}

TEST_CASE("a block outlives its ring") {
  auto ring = NewRing();
  const auto block = ring->Allocate(3);
  ring.reset();
  std::string("abc").copy(block->data(), 3);
  REQUIRE(block->bytes() == "abc");
}

TEST_CASE("threads have blocks of their own") {
  const auto ring = NewRing();
  std::vector<runtime::Thread> threads;
  std::atomic<int> sound = 0;
  for (char mark = 'a'; mark < 'e'; ++mark) {
    threads.emplace_back("test", [&ring, &sound, mark] {
      for (int i = 0; i < 1000; ++i) {
        std::shared_ptr<RingBlock> block;
        // A thread that has the oldest block may be held up.
        doubles::Eventually([&] { return (block = ring->Allocate(1000)) != nullptr; });
        if (block == nullptr) return;
        std::fill_n(block->data(), 1000, mark);
        if (block->bytes() == std::string(1000, mark)) ++sound;
      }
    });
  }
  for (runtime::Thread& thread : threads) thread.Join();
  REQUIRE(sound == 4000);
  REQUIRE(ring->Allocate(kCapacity) != nullptr);
}

TEST_CASE("a payload is serialised where there is room for it, and moves to another ring") {
  const proto::Unroll unroll = UnrollOf(7, 3000);
  const std::string bytes = unroll.SerializeAsString();
  const std::size_t size = unroll.ByteSizeLong();
  const auto ring = NewRing();
  PlacedPayload payload = Place(unroll, size, ring.get());
  REQUIRE(payload.block != nullptr);
  REQUIRE(payload.memory.bytes == bytes);
  const char* const place = payload.memory.bytes.data();
  REQUIRE(MoveTo(*ring, payload) == 0);
  REQUIRE(payload.memory.bytes.data() == place);

  const auto next = NewRing();
  REQUIRE(MoveTo(*next, payload) == size);
  REQUIRE(payload.block->ring() == next.get());
  REQUIRE(payload.memory.bytes == bytes);
  REQUIRE(ring->Allocate(kCapacity) != nullptr);

  const auto full = NewRing();
  const auto all = full->Allocate(kCapacity);
  for (BlockRing* const none : {full.get(), static_cast<BlockRing*>(nullptr)}) {
    PlacedPayload apart = Place(unroll, size, none);
    REQUIRE(apart.block == nullptr);
    REQUIRE(apart.memory.bytes == bytes);
    REQUIRE(MoveTo(*full, apart) == std::nullopt);
    REQUIRE(apart.memory.bytes == bytes);
  }
}

}  // namespace
}  // namespace shoal::replay::client
