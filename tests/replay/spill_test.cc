// SPDX-License-Identifier: Apache-2.0
#include "replay/spill.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/batch_reader.h"
#include "replay/shard.h"
#include "tests/replay/memory_disk.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kPayload = 10000;

// An item whose payload tells its number.
std::shared_ptr<Item> ItemWith(std::uint64_t number, std::uint64_t step = 0,
                               std::size_t payload = kPayload) {
  auto item = ItemNumber(number, step, payload);
  item->payload = std::to_string(number) + std::string(item->payload).substr(8) +
                  std::string(8 - std::to_string(number).size(), ' ');
  return item;
}

std::size_t ItemBytes() { return ItemNumber(1, 0, kPayload)->bytes(); }

struct SpillingShard {
  explicit SpillingShard(const TableOptions& table) {
    auto journal = std::make_unique<MemoryDisk>();
    disk = journal.get();
    auto made = Shard::Create({.tables = {table}, .contents = {}}, runtime::SystemClock(),
                              std::move(journal));
    REQUIRE(made.ok());
    shard = *std::move(made);
    reader = *shard->OpenReader();
  }

  absl::Status Insert(std::uint64_t number) const {
    auto item = ItemWith(number);
    return shard->Insert("unrolls", item);
  }
  SampleBatch Sample(std::size_t most = 1) const {
    return shard->Sample("unrolls", reader, most, std::size_t{1} << 30);
  }
  // Samples one item and reads it. Returns nothing if there is none.
  std::optional<SampledItem> SampleOne() const {
    SampleBatch batch = Sample();
    if (batch.samples.empty()) return std::nullopt;
    ReadParts(batch, 0, 1);
    shard->FinishReads(batch);
    if (batch.samples.empty()) return std::nullopt;
    return batch.samples.front();
  }
  TableStats stats() const { return shard->stats().tables[0]; }

  MemoryDisk* disk = nullptr;
  std::unique_ptr<Shard> shard;
  int reader = 0;
};

// A table that may have about so many payloads in memory.
TableOptions WithMemoryFor(double payloads, TableOptions options = {}) {
  options.memory_bytes = static_cast<std::size_t>(payloads * static_cast<double>(ItemBytes()));
  return options;
}

TEST_CASE("a table with a bound in memory needs a disk") {
  const auto shard = Shard::Create({.tables = {{.memory_bytes = 1000}}, .contents = {}});
  REQUIRE(absl::IsInvalidArgument(shard.status()));
  REQUIRE(runtime::Message(shard.status()).find("memory_bytes") != std::string::npos);
}

TEST_CASE(
    "payloads beyond the memory go to disk, once it has them, and come back with the sample") {
  const SpillingShard spilling(WithMemoryFor(4));
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(spilling.Insert(i).ok());
  REQUIRE(spilling.disk->writes() == 1);
  REQUIRE(spilling.stats().disk_bytes == 0);
  spilling.disk->Write();
  REQUIRE(spilling.stats().disk_bytes == kPayload);
  REQUIRE(spilling.stats().memory_bytes == 4 * ItemBytes() - kPayload);
  REQUIRE(spilling.stats().bytes == 4 * ItemBytes());
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto sample = spilling.SampleOne();
    REQUIRE(sample);
    REQUIRE(sample->item->id.environment_id == i);
    REQUIRE(sample->item->payload == ItemWith(i)->payload);
  }
  REQUIRE(spilling.stats().reads_total == 1);
  REQUIRE(spilling.stats().bytes == 0);
  REQUIRE(spilling.stats().memory_bytes == 0);
  REQUIRE(spilling.stats().disk_bytes == 0);
  spilling.disk->Write();
  REQUIRE(spilling.disk->Written(0).empty());
}

TEST_CASE("a queue keeps in memory what is sampled next, and other tables what came last") {
  const auto on_disk = [](SelectorKind sampler) {
    const SpillingShard spilling(WithMemoryFor(
        4, {.sampler = sampler, .remover = SelectorKind::kFifo, .max_times_sampled = 0}));
    for (std::uint64_t i = 0; i < 10; ++i) {
      REQUIRE(spilling.Insert(i).ok());
      spilling.disk->Write();
    }
    return spilling.disk->Written(0);
  };
  REQUIRE(on_disk(SelectorKind::kFifo) == std::set<Handle>{3, 4, 5, 6, 7, 8, 9});
  REQUIRE(on_disk(SelectorKind::kLifo) == std::set<Handle>{0, 1, 2, 3, 4, 5, 6});
  REQUIRE(on_disk(SelectorKind::kUniform) == std::set<Handle>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a table whose memory is full takes items again once the disk has written some") {
  const SpillingShard spilling(WithMemoryFor(4));
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(spilling.Insert(i).ok());
  const absl::Status refused = spilling.Insert(4);
  REQUIRE(absl::IsResourceExhausted(refused));
  REQUIRE(runtime::Message(refused).find("written to disk") != std::string::npos);
  REQUIRE(spilling.shard->tables()[0].insert_wait == Wait::kMemory);
  REQUIRE(NameOf(Wait::kMemory) == "memory_bytes");
  REQUIRE(spilling.shard->Room("unrolls") == 0);
  REQUIRE(spilling.stats().full_memory_total == 1);
  REQUIRE(spilling.stats().memory_bytes <= spilling.shard->tables()[0].options.memory_bytes);
  spilling.disk->Write();
  REQUIRE(spilling.shard->tables()[0].insert_wait == Wait::kNone);
  REQUIRE(spilling.Insert(4).ok());
}

TEST_CASE("an item that left before its batch is read is read all the same") {
  const SpillingShard spilling(WithMemoryFor(0.1));
  REQUIRE(spilling.Insert(1).ok());
  spilling.disk->Write();
  SampleBatch batch = spilling.Sample();
  REQUIRE(batch.samples.front().item->spilled());
  spilling.disk->Write();
  REQUIRE(spilling.disk->Written(0).empty());
  ReadParts(batch, 0, 1);
  spilling.shard->FinishReads(batch);
  REQUIRE(batch.samples.front().item->payload == ItemWith(1)->payload);
}

TEST_CASE(
    "while the disk fails a table gives nothing that lies there, says so, and loses nothing") {
  const SpillingShard spilling(WithMemoryFor(0.1));
  REQUIRE(spilling.Insert(1).ok());
  spilling.disk->Write();
  spilling.disk->Fail(true);
  REQUIRE(spilling.Sample().samples.empty());
  REQUIRE(spilling.shard->tables()[0].sample_wait == Wait::kDisk);
  REQUIRE(NameOf(Wait::kDisk) == "disk");
  spilling.disk->Fail(false);
  REQUIRE(spilling.SampleOne());
}

TEST_CASE("a payload that is damaged on disk costs its item, and no other") {
  const SpillingShard spilling(
      WithMemoryFor(0.1, {.remover = SelectorKind::kFifo, .max_times_sampled = 0}));
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(spilling.Insert(i).ok());
    spilling.disk->Write();
  }
  spilling.disk->Damage(0, 0);
  SampleBatch batch = spilling.Sample(2);
  REQUIRE(batch.samples.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) ReadParts(batch, i, 1);
  spilling.shard->FinishReads(batch);
  REQUIRE(batch.samples.empty());
  REQUIRE(spilling.stats().lost_total == 2);
  REQUIRE(spilling.stats().size == 2);
  REQUIRE(spilling.SampleOne()->item->id.environment_id == 1);
}

TEST_CASE("with less memory more payloads go to disk at once") {
  const SpillingShard spilling(WithMemoryFor(10));
  for (std::uint64_t i = 0; i < 8; ++i) REQUIRE(spilling.Insert(i).ok());
  REQUIRE(spilling.disk->writes() == 0);
  TableOptions options = WithMemoryFor(4);
  REQUIRE(spilling.shard->Change(options).ok());
  REQUIRE(spilling.disk->writes() == 5);
  options.memory_bytes = 0;
  const absl::Status refused = spilling.shard->Change(options);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("memory_bytes") != std::string::npos);
}

TEST_CASE("a table with little memory does what one with enough does, whatever comes") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    runtime::Random random(seed);
    const auto kind = [&random] {
      return static_cast<SelectorKind>(random.Below(SelectorNames().size()));
    };
    TableOptions options{.sampler = kind(),
                         .max_size = 1 + random.Below(30),
                         .max_times_sampled = static_cast<std::uint32_t>(1 + random.Below(3)),
                         .limiter = {.samples_per_insert = 1, .error_buffer = 100},
                         .seed = random()};
    if (random.Below(2) == 0) options.remover = kind();
    const SpillingShard ample(options);
    const SpillingShard spilling(
        WithMemoryFor(static_cast<double>(random.Below(8)) + 0.5, options));
    const std::size_t memory = spilling.shard->tables()[0].options.memory_bytes;
    for (std::uint64_t i = 0; i < 600; ++i) {
      const std::uint64_t choice = random.Below(9);
      if (choice < 4) {
        auto item = ItemWith(random.Below(400), i / 50, 100 + random.Below(kPayload));
        item->priority = static_cast<float>(random.Uniform());
        auto copy = std::make_shared<Item>(*item);
        absl::Status status = spilling.shard->Insert("unrolls", item);
        if (runtime::Message(status).find("written to disk") != std::string::npos) {
          spilling.disk->Write();
          status = spilling.shard->Insert("unrolls", item);
        }
        REQUIRE(ample.shard->Insert("unrolls", copy).code() == status.code());
      } else if (choice < 7) {
        const auto expected = ample.SampleOne();
        const auto sample = spilling.SampleOne();
        REQUIRE(sample.has_value() == expected.has_value());
        if (!sample) continue;
        REQUIRE(sample->item->id == expected->item->id);
        REQUIRE(sample->item->payload == expected->item->payload);
        REQUIRE(sample->probability == expected->probability);
        REQUIRE(sample->times_sampled == expected->times_sampled);
      } else if (choice < 8) {
        const std::vector<PriorityUpdate> updates = {
            {.id = ItemNumber(random.Below(400))->id,
             .priority = static_cast<float>(random.Uniform())}};
        REQUIRE(spilling.shard->Update("unrolls", updates) ==
                ample.shard->Update("unrolls", updates));
      } else if (random.Below(4) == 0) {
        const PolicyVersion version{.epoch = 1, .step = i / 50};
        ample.shard->SetCurrentVersion("unrolls", version, 2);
        spilling.shard->SetCurrentVersion("unrolls", version, 2);
      } else {
        spilling.disk->Write();
      }
      const TableStats stats = spilling.stats();
      REQUIRE(stats.size == ample.stats().size);
      REQUIRE(stats.bytes == ample.stats().bytes);
      REQUIRE(stats.bytes == stats.memory_bytes + stats.disk_bytes);
      REQUIRE(ample.stats().disk_bytes == 0);
      // A single item may be larger than the memory, and what is not payload stays in it.
      const std::size_t rest = 30 * ItemNumber(1, 0, 0)->bytes();
      REQUIRE(stats.memory_bytes <= memory + rest + ItemBytes());
    }
    spilling.shard->SetCurrentVersion("unrolls", {.epoch = 2, .step = 0}, 1);
    REQUIRE(spilling.stats().size == 0);
    REQUIRE(spilling.stats().memory_bytes == 0);
    REQUIRE(spilling.stats().disk_bytes == 0);
    spilling.disk->Write();
    REQUIRE(spilling.disk->Written(0).empty());
  }
}

TEST_CASE("payloads are read together where their items came one after another") {
  SampleBatch batch;
  const auto add = [&batch](Handle handle, std::uint32_t spilled_bytes) {
    auto item = std::make_shared<Item>();
    item->spilled_bytes = spilled_bytes;
    batch.samples.push_back({.item = std::move(item), .handle = handle});
  };
  for (const Handle handle : {3, 4, 5, 7, 8}) add(handle, 1);
  add(9, 0);
  add(10, 1);
  add(9, 1);
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < batch.samples.size(); i += counts.back()) {
    counts.push_back(Neighbours(batch, i));
  }
  REQUIRE(counts == std::vector<std::size_t>{3, 2, 1, 1, 1});
}

TEST_CASE("chunks are read together where they came one after another") {
  SampleBatch batch;
  const auto add = [&batch](std::uint64_t number) {
    const std::uint32_t spilled_bytes = number > 0 ? 1 : 0;
    batch.contents.push_back(std::make_shared<const Content>(Content{
        .key = {}, .body = Chunk{.data = {}, .spilled_bytes = spilled_bytes, .number = number}}));
  };
  // Those in memory, with number 0, part none.
  for (const std::uint64_t number : {0, 3, 4, 0, 5, 7, 8, 6, 0}) add(number);
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < batch.contents.size(); i += counts.back()) {
    counts.push_back(Neighbours(batch, i));
  }
  REQUIRE(counts == std::vector<std::size_t>{5, 2, 2});
}

TEST_CASE("of payloads that are read together a damaged one costs its item, and no other") {
  const SpillingShard spilling(WithMemoryFor(0.1));
  for (std::uint64_t i = 0; i < 5; ++i) {
    REQUIRE(spilling.Insert(i).ok());
    spilling.disk->Write();
  }
  spilling.disk->Damage(0, 2);
  SampleBatch batch = spilling.Sample(5);
  REQUIRE(Neighbours(batch, 0) == 5);
  ReadParts(batch, 0, 5);
  spilling.shard->FinishReads(batch);
  std::vector<std::uint64_t> numbers;
  for (const SampledItem& sample : batch.samples) {
    numbers.push_back(sample.item->id.environment_id);
    REQUIRE(sample.item->payload == ItemWith(numbers.back())->payload);
  }
  REQUIRE(numbers == std::vector<std::uint64_t>{0, 1, 3, 4});
  REQUIRE(spilling.stats().lost_total == 1);
}

TEST_CASE("batches are read on several threads while the table changes, and each is whole") {
  const SpillingShard spilling(WithMemoryFor(3, {.max_size = 100}));
  BatchReader batch_reader(4);
  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::size_t read = 0;
  std::deque<std::shared_ptr<SampleBatch>> batches;
  std::uint64_t inserted = 0;
  constexpr std::uint64_t kItems = 400;
  std::size_t asked = 0;
  while (asked < kItems) {
    while (inserted < kItems && spilling.Insert(inserted).ok()) ++inserted;
    spilling.disk->Write();
    auto batch = std::make_shared<SampleBatch>(spilling.Sample(5));
    if (batch->samples.empty()) continue;
    asked += batch->samples.size();
    batches.push_back(batch);
    batch_reader.Read(batch, [&] {
      const runtime::MutexLock lock(mutex);
      ++read;
      changed.NotifyAll();
    });
  }
  {
    const runtime::MutexLock lock(mutex);
    while (read < batches.size()) changed.Wait(mutex);
  }
  std::uint64_t next = 0;
  for (const auto& batch : batches) {
    spilling.shard->FinishReads(*batch);
    for (const SampledItem& sample : batch->samples) {
      REQUIRE(sample.item->id.environment_id == next);
      REQUIRE(sample.item->payload == ItemWith(next++)->payload);
    }
  }
  REQUIRE(next == kItems);
  REQUIRE(spilling.stats().reads_total > 0);
}

TEST_CASE("a reader that ends reads no further batch") {
  const SpillingShard spilling(WithMemoryFor(0.1));
  REQUIRE(spilling.Insert(1).ok());
  spilling.disk->Write();
  auto batch = std::make_shared<SampleBatch>(spilling.Sample());
  bool read = false;
  {
    BatchReader without_threads(0);
    without_threads.Read(batch, [&read] { read = true; });
  }
  REQUIRE_FALSE(read);
  REQUIRE(batch.use_count() == 1);
}

}  // namespace
}  // namespace shoal::replay
