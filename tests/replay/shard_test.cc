// SPDX-License-Identifier: Apache-2.0
#include "replay/shard.h"

#include <absl/container/flat_hash_map.h>
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "platform/runtime/thread.h"
#include "tests/doubles/manual_clock.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

std::unique_ptr<Shard> MakeShard(TableOptions table) {
  auto shard = Shard::Create({.tables = {std::move(table)}, .contents = {}});
  REQUIRE(shard.ok());
  return *std::move(shard);
}

TEST_CASE("a shard needs tables of different names, and says which one an item asked for") {
  REQUIRE(absl::IsInvalidArgument(Shard::Create({}).status()));
  REQUIRE(absl::IsInvalidArgument(Shard::Create({.tables = {{}, {}}, .contents = {}}).status()));
  const auto shard = MakeShard({.name = "unrolls"});
  auto item = ItemNumber(1);
  const absl::Status status = shard->Insert("others", item);
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status).find("others") != std::string::npos);
  REQUIRE(shard->Room("others") == 0);
}

TEST_CASE("a batch carries each content once a reader, and stops at its limits") {
  const auto shard = MakeShard({});
  REQUIRE(shard->Put(EmbeddingNumber(1)).ok());
  for (std::uint64_t i = 0; i < 6; ++i) {
    auto item = ItemNumber(i);
    item->content_keys = {KeyNumber(1)};
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  const int reader = *shard->OpenReader();
  const SampleBatch first = shard->Sample("unrolls", reader, 2, 1 << 20);
  REQUIRE(first.samples.size() == 2);
  REQUIRE(first.contents.size() == 1);
  const SampleBatch second = shard->Sample("unrolls", reader, 100, 150);
  REQUIRE(second.samples.size() == 2);
  REQUIRE(second.contents.empty());
  const int other = *shard->OpenReader();
  const SampleBatch third = shard->Sample("unrolls", other, 100, 1 << 20);
  REQUIRE(third.samples.size() == 2);
  REQUIRE(third.contents.size() == 1);
  REQUIRE(shard->stats().unused_content_bytes == shard->stats().content_bytes);
}

TEST_CASE("a full table has room again when its items are too old, though nobody samples") {
  doubles::ManualClock clock;
  const auto shard = *Shard::Create(
      {.tables = {{.max_size = 1, .max_age = std::chrono::seconds(5)}}, .contents = {}}, clock);
  auto item = ItemNumber(1);
  REQUIRE(shard->Insert("unrolls", item).ok());
  REQUIRE(shard->Room("unrolls") == 0);
  clock.Advance(std::chrono::seconds(6));
  REQUIRE(shard->Room("unrolls") == 1);
  item = ItemNumber(2);
  REQUIRE(shard->Insert("unrolls", item).ok());
  clock.Advance(std::chrono::seconds(6));
  const int reader = *shard->OpenReader();
  REQUIRE(shard->Sample("unrolls", reader, 10, 1 << 20).samples.empty());
  REQUIRE(shard->stats().tables[0].evicted_old_total == 2);
}

TEST_CASE("tables with a remover evict items to make room for contents, others refuse them") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  for (const bool removes : {true, false}) {
    TableOptions table;
    if (removes) table.remover = SelectorKind::kFifo;
    const auto made =
        Shard::Create({.tables = {table},
                       .contents = {.capacity_bytes = 3 * bytes, .unused_capacity_bytes = bytes}});
    REQUIRE(made.ok());
    Shard& shard = **made;
    for (int i = 0; i < 3; ++i) {
      REQUIRE(shard.Put(EmbeddingNumber(i)).ok());
      auto item = ItemNumber(static_cast<std::uint64_t>(i));
      item->content_keys = {KeyNumber(i)};
      REQUIRE(shard.Insert("unrolls", item).ok());
    }
    REQUIRE(shard.Put(EmbeddingNumber(3)).ok() == removes);
    REQUIRE(shard.ContentsFull() == !removes);
    REQUIRE(shard.stats().tables[0].size == (removes ? 2 : 3));
    REQUIRE(shard.stats().content_bytes <= 3 * bytes);
  }
}

TEST_CASE("a table counts at least the memory that its items take") {
  const auto used = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = used();
  const auto shard = MakeShard({.sampler = SelectorKind::kUniform,
                                .remover = SelectorKind::kFifo,
                                .max_size = 20000,
                                .id_window = 0});
  for (std::uint64_t i = 0; i < 20000; ++i) {
    auto item = ItemNumber(i);
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  const std::size_t taken = used() - std::min(before, used());
  INFO("taken " << taken << " counted " << shard->stats().tables[0].bytes);
  REQUIRE(taken <= shard->stats().tables[0].bytes);
}

TEST_CASE("a learner group of an earlier epoch than the latest one is refused, naming both") {
  const auto shard = MakeShard({});
  REQUIRE(shard->JoinGroup("unrolls", 3).ok());
  REQUIRE(shard->JoinGroup("unrolls", 3).ok());
  REQUIRE(shard->JoinGroup("unrolls", 4).ok());
  const absl::Status late = shard->JoinGroup("unrolls", 3);
  REQUIRE(absl::IsFailedPrecondition(late));
  REQUIRE(runtime::Message(late) ==
          "table unrolls: a learner group of epoch 4 samples from it, this one is of epoch 3");
}

TEST_CASE("whoever awaits a change is woken by one, and by closing") {
  const auto shard = MakeShard({});
  std::uint64_t seen = shard->AwaitChange(0, std::chrono::seconds(10));
  runtime::Thread thread("inserter", [&shard] {
    auto item = ItemNumber(1);
    shard->Insert("unrolls", item).IgnoreError();
  });
  const std::uint64_t next = shard->AwaitChange(seen, std::chrono::seconds(10));
  REQUIRE(next != seen);
  thread.Join();
  runtime::Thread closer("closer", [&shard] { shard->Close(); });
  REQUIRE(shard->AwaitChange(next, std::chrono::seconds(10)) == next);
  REQUIRE(shard->closed());
}

// Catch's macros may be used on one thread only, so the threads count errors.
struct Tally {
  void Fail() ABSL_LOCKS_EXCLUDED(mutex) {
    const runtime::MutexLock lock(mutex);
    ++failures;
  }
  // Returns false once all `expected` items have come.
  bool Add(const SampleBatch& batch, std::size_t expected) ABSL_LOCKS_EXCLUDED(mutex) {
    const runtime::MutexLock lock(mutex);
    for (const SampledItem& sample : batch.samples) drawn.push_back(sample.item->id.environment_id);
    return drawn.size() < expected;
  }

  runtime::Mutex mutex;
  std::vector<std::uint64_t> drawn ABSL_GUARDED_BY(mutex);
  int failures ABSL_GUARDED_BY(mutex) = 0;
};

void InsertMany(Shard& shard, Tally& tally, std::uint64_t first, std::uint64_t count) {
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const int number = static_cast<int>(i % 50);
    if (!shard.Put(EmbeddingNumber(number)).ok()) tally.Fail();
    auto item = ItemNumber(first + i);
    item->content_keys = {KeyNumber(number)};
    while (item && !shard.Insert("unrolls", item).ok()) {
      seen = shard.AwaitChange(seen, std::chrono::milliseconds(20));
    }
  }
}

void DrawMany(Shard& shard, Tally& tally, std::size_t expected) {
  const int reader = *shard.OpenReader();
  absl::flat_hash_map<Key, int, KeyHash> known;
  std::uint64_t seen = 0;
  for (;;) {
    const SampleBatch batch = shard.Sample("unrolls", reader, 4, 1 << 20);
    for (const auto& content : batch.contents) ++known[content->key];
    for (const SampledItem& sample : batch.samples) {
      if (known[sample.item->content_keys[0]] != 1) tally.Fail();
    }
    if (!tally.Add(batch, expected)) return;
    if (batch.samples.empty()) seen = shard.AwaitChange(seen, std::chrono::milliseconds(20));
  }
}

TEST_CASE("many inserters and samplers at once: every item comes once, with its contents known") {
  constexpr std::uint64_t kThreads = 3;
  constexpr std::uint64_t kItems = 300;
  const auto shard = MakeShard({.max_size = 16});
  Tally tally;
  {
    std::vector<runtime::Thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back("insert", [&, t] { InsertMany(*shard, tally, t * kItems, kItems); });
      threads.emplace_back("draw", [&] { DrawMany(*shard, tally, kThreads * kItems); });
    }
  }
  const runtime::MutexLock lock(tally.mutex);
  REQUIRE(tally.failures == 0);
  std::sort(tally.drawn.begin(), tally.drawn.end());
  REQUIRE(tally.drawn.size() == kThreads * kItems);
  for (std::uint64_t i = 0; i < tally.drawn.size(); ++i) REQUIRE(tally.drawn[i] == i);
  REQUIRE(shard->stats().tables[0].size == 0);
}

}  // namespace
}  // namespace shoal::replay
