// SPDX-License-Identifier: Apache-2.0
#include "replay/shard.h"

#include <absl/container/flat_hash_map.h>
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
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

TEST_CASE("a batch tells the steps that environments took, without relabelled ones") {
  const auto shard = MakeShard({});
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto item = ItemNumber(i);
    item->steps = 10;
    item->uncounted_steps = 4;
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  const int reader = *shard->OpenReader();
  REQUIRE(shard->Sample("unrolls", reader, 1, 1 << 20).inserted_steps == 18);
}

TEST_CASE("a batch carries each content once a reader, and stops at its limits") {
  const auto shard = MakeShard({});
  REQUIRE(shard->Put(EmbeddingNumber(1)).ok());
  for (std::uint64_t i = 0; i < 6; ++i) {
    auto item = ItemNumber(i);
    item->keys = ContentKeys({KeyNumber(1)});
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

// Writes down what it is told, behind its name, in a list that others may share.
class Notes final : public TableHooks {
 public:
  Notes(std::string name, std::vector<std::string>& list) : name_(std::move(name)), list_(list) {}

  void OnInsert(Handle handle, const std::shared_ptr<const Item>&) override {
    Note("insert", handle);
  }
  void OnSample(Handle handle, float, std::uint32_t) override { Note("sample", handle); }
  void OnUpdate(Handle handle, float, std::uint32_t) override { Note("update", handle); }
  void OnDelete(Handle handle) override { Note("delete", handle); }
  void OnSeen(const UnrollId& id) override { Note("seen", id.environment_id); }
  void OnChange() override { Note("change", 0); }

 private:
  void Note(const std::string& what, std::uint64_t number) {
    list_.push_back(name_ + " " + what + " " + std::to_string(number));
  }

  const std::string name_;
  std::vector<std::string>& list_;
};

TEST_CASE(
    "all hooks of a table are told of each change, one after another, and of no other table") {
  std::vector<std::string> told;
  Notes first("a", told);
  Notes second("b", told);
  TableOptions other;
  other.name = "other";
  const auto shard = *Shard::Create({.tables = {{.max_times_sampled = 2}, other}, .contents = {}});
  shard->AddHooks("unrolls", first);
  shard->AddHooks("unrolls", second);
  const auto insert = [&shard](std::uint64_t number, const std::string& table) {
    auto item = ItemNumber(number, number);
    REQUIRE(shard->Insert(table, item).ok());
  };
  insert(5, "unrolls");
  insert(6, "unrolls");
  insert(7, "other");
  const PriorityUpdate update{.id = ItemNumber(6)->id, .priority = 2};
  REQUIRE(shard->Update("unrolls", {&update, 1}) == 1);
  const int reader = *shard->OpenReader();
  REQUIRE(shard->Sample("unrolls", reader, 2, 1 << 20).samples.size() == 2);
  shard->SetCurrentVersion("unrolls", {.epoch = 1, .step = 8}, 1);
  insert(4, "unrolls");
  std::vector<std::string> expected;
  for (const char* const what : {"insert 0", "insert 1", "update 1", "sample 0", "sample 0",
                                 "delete 0", "change 0", "delete 1", "seen 4"}) {
    for (const char* const hooks : {"a ", "b "}) expected.push_back(std::string(hooks) + what);
  }
  REQUIRE(told == expected);
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
      item->keys = ContentKeys({KeyNumber(i)});
      REQUIRE(shard.Insert("unrolls", item).ok());
    }
    REQUIRE(shard.Put(EmbeddingNumber(3)).ok() == removes);
    REQUIRE(shard.ContentsFull() == !removes);
    REQUIRE(shard.stats().tables[0].size == (removes ? 2 : 3));
    REQUIRE(shard.stats().content_bytes <= 3 * bytes);
  }
}

// What a shard with two tables of seven items holds, counted by hand. No line for unused chunks:
// one that was put and not used yet goes when the next one comes or an item leaves.
class ChunkModel {
 public:
  struct Held {
    std::uint64_t number = 0;
    std::vector<Key> chunks;
    int samples = 0;
  };

  std::set<Key> Present() const {
    std::set<Key> keys;
    for (const auto& [name, items] : tables_) {
      for (const Held& held : items) keys.insert(held.chunks.begin(), held.chunks.end());
    }
    if (fresh_) keys.insert(*fresh_);
    return keys;
  }
  void Put(const Key& key) {
    if (!Present().contains(key)) fresh_ = key;
  }
  void Insert(const std::string& name, Held held) {
    if (fresh_ && std::count(held.chunks.begin(), held.chunks.end(), *fresh_) > 0) fresh_.reset();
    auto& items = tables_[name];
    items.push_back(std::move(held));
    if (items.size() <= 7) return;
    items.pop_front();
    fresh_.reset();
  }
  // Returns the chunks of the item, which leaves with its second sample.
  std::vector<Key> Sample(const std::string& name, std::uint64_t number) {
    auto& items = tables_[name];
    const auto found = std::find_if(items.begin(), items.end(),
                                    [number](const Held& it) { return it.number == number; });
    REQUIRE(found != items.end());
    const std::vector<Key> chunks = found->chunks;
    if (++found->samples == 2) {
      items.erase(found);
      fresh_.reset();
    }
    return chunks;
  }
  bool IsEmpty(const std::string& name) { return tables_[name].empty(); }

 private:
  std::map<std::string, std::deque<Held>> tables_;
  std::optional<Key> fresh_;
};

TEST_CASE("two tables share chunks, which stay exactly as long as an item of either uses them") {
  const auto table = [](const char* name, SelectorKind sampler) {
    return TableOptions{.name = name,
                        .sampler = sampler,
                        .remover = SelectorKind::kFifo,
                        .max_size = 7,
                        .max_times_sampled = 2};
  };
  const auto shard = *Shard::Create(
      {.tables = {table("one", SelectorKind::kFifo), table("other", SelectorKind::kUniform)},
       .contents = {.unused_capacity_bytes = 0}});
  ChunkModel model;
  const int reader = *shard->OpenReader();
  runtime::Random random(5);
  std::set<Key> given;
  std::size_t inserted = 0;
  std::size_t refused = 0;
  for (std::uint64_t number = 0; number < 20000; ++number) {
    const std::string name = random.Below(2) == 0 ? "one" : "other";
    auto item = ItemNumber(number);
    std::vector<Key> chunks;
    for (int i = 0; i < 3; ++i) chunks.push_back(KeyNumber(static_cast<int>(random.Below(9))));
    if (random.Below(2) == 0) {
      model.Put(chunks[0]);
      REQUIRE(shard->Put({.key = chunks[0], .body = Chunk{.data = "rows"}}).ok());
    }
    if (random.Below(4) == 0) chunks.assign(3, Key(chunks[0]));
    item->keys = ChunkKeys(chunks);
    const std::set<Key> present = model.Present();
    std::vector<Key> missing;
    for (const Key& key : chunks) {
      if (!present.contains(key)) missing.push_back(key);
    }
    REQUIRE(shard->Missing(*item) == missing);
    ChunkModel::Held held{.number = number, .chunks = chunks};
    const absl::Status status = shard->Insert(name, item);
    REQUIRE(status.ok() == missing.empty());
    REQUIRE(absl::IsNotFound(status) != missing.empty());
    if (status.ok()) model.Insert(name, std::move(held));
    status.ok() ? ++inserted : ++refused;
    if (random.Below(2) == 0) {
      const SampleBatch batch = shard->Sample(name, reader, 1, 1 << 20);
      REQUIRE(batch.samples.empty() == model.IsEmpty(name));
      // Nothing is given twice, and everything that the item uses has been given by now.
      for (const auto& content : batch.contents) REQUIRE(given.insert(content->key).second);
      for (const SampledItem& sample : batch.samples) {
        for (const Key& key : model.Sample(name, sample.item->id.environment_id)) {
          REQUIRE(given.contains(key));
        }
      }
    }
    const std::set<Key> now = model.Present();
    std::erase_if(given, [&now](const Key& key) { return !now.contains(key); });
    REQUIRE(shard->stats().chunk_count == now.size());
  }
  REQUIRE(inserted > 1000);
  REQUIRE(refused > 1000);
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
    item->keys = ContentKeys({KeyNumber(number)});
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
      if (known[sample.item->keys->contents[0]] != 1) tally.Fail();
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
