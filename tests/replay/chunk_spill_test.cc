// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/content_store.h"
#include "replay/shard.h"
#include "tests/replay/memory_disk.h"
#include "tests/replay/read_parts.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

constexpr std::size_t kChunkBytes = 10000;

// Each number has other data, of another length.
std::string DataOf(int number) {
  return std::string(kChunkBytes + static_cast<std::size_t>(number % 7),
                     static_cast<char>('a' + number % 26));
}

Content LargeChunk(int number) {
  return {.key = KeyNumber(number), .body = Chunk{.data = DataOf(number)}};
}

// A shard whose contents have memory for `chunks` chunks.
struct ChunkShard {
  explicit ChunkShard(double chunks, TableOptions table = {.sampler = SelectorKind::kUniform,
                                                           .remover = SelectorKind::kFifo,
                                                           .max_size = 1000,
                                                           .max_times_sampled = 0})
      : memory(static_cast<std::size_t>(chunks * static_cast<double>(LargeChunk(6).bytes()))) {
    auto journal = std::make_unique<MemoryDisk>();
    disk = journal.get();
    auto made = Shard::Create({.tables = {std::move(table)}, .contents = {.memory_bytes = memory}},
                              runtime::SystemClock(), std::move(journal));
    REQUIRE(made.ok());
    shard = *std::move(made);
  }

  std::size_t in_memory() const {
    const ShardStats stats = shard->stats();
    return stats.content_bytes - stats.content_disk_bytes;
  }
  absl::Status Insert(std::uint64_t number, const std::vector<int>& chunks) const {
    for (const int chunk : chunks) {
      const absl::Status status = shard->Put(LargeChunk(chunk));
      REQUIRE(in_memory() <= memory);
      if (!status.ok()) return status;
    }
    auto item = ItemNumber(number);
    std::vector<Key> keys;
    for (const int chunk : chunks) keys.push_back(KeyNumber(chunk));
    item->keys = ChunkKeys(std::move(keys));
    return shard->Insert("unrolls", item);
  }
  // Inserts an item, for which the disk writes what it has to.
  void InsertWriting(int number, const std::vector<int>& chunks) const {
    const auto id = static_cast<std::uint64_t>(number);
    if (!Insert(id, chunks).ok()) {
      disk->Write();
      REQUIRE(Insert(id, chunks).ok());
    }
    disk->Write();
  }
  // Samples so many items for a new reader, reads what they lack, and returns what came.
  SampleBatch Sample(std::size_t most) const {
    const int reader = *shard->OpenReader();
    SampleBatch batch = shard->Sample("unrolls", reader, most, std::size_t{1} << 30);
    unread = ReadAll(*shard, batch);
    shard->CloseReader(reader);
    return batch;
  }

  const std::size_t memory;
  MemoryDisk* disk = nullptr;
  std::unique_ptr<Shard> shard;
  mutable bool unread = false;
};

std::map<Key, std::string> ChunksOf(const SampleBatch& batch) {
  std::map<Key, std::string> chunks;
  for (const auto& content : batch.contents) {
    REQUIRE_FALSE(content->spilled());
    REQUIRE(chunks.emplace(content->key, std::get<Chunk>(content->body).data).second);
  }
  return chunks;
}

// Every sampled item has its chunks, whole.
void RequireWhole(const SampleBatch& batch, const std::map<Key, int>& numbers) {
  const std::map<Key, std::string> chunks = ChunksOf(batch);
  for (const SampledItem& sample : batch.samples) {
    for (const Key& key : sample.item->keys->chunks) {
      REQUIRE(chunks.contains(key));
      REQUIRE(chunks.at(key) == DataOf(numbers.at(key)));
    }
  }
}

std::map<Key, int> NumbersUpTo(int last) {
  std::map<Key, int> numbers;
  for (int number = 0; number <= last; ++number) numbers[KeyNumber(number)] = number;
  return numbers;
}

TEST_CASE("contents with a bound in memory need a disk") {
  const auto shard = Shard::Create({.tables = {{}}, .contents = {.memory_bytes = 100000}});
  REQUIRE(absl::IsInvalidArgument(shard.status()));
  REQUIRE(runtime::Message(shard.status()).find("content_memory_bytes") != std::string::npos);
}

TEST_CASE("contents that fit into memory are never given to the disk") {
  const ChunkShard chunks(10);
  for (int number = 0; number < 8; ++number) {
    REQUIRE(chunks.Insert(static_cast<std::uint64_t>(number), {number}).ok());
  }
  chunks.disk->Write();
  REQUIRE(chunks.disk->WrittenChunks().empty());
  REQUIRE(chunks.shard->stats().content_disk_bytes == 0);
}

TEST_CASE("chunks beyond memory go to disk, and samples have them again") {
  const ChunkShard chunks(4);
  for (int number = 0; number < 40; ++number) {
    chunks.InsertWriting(number, {number});
  }
  REQUIRE(chunks.shard->stats().content_disk_bytes > 30 * kChunkBytes);
  REQUIRE(chunks.shard->stats().chunk_count == 40);
  std::set<std::uint64_t> seen;
  while (seen.size() < 40) {
    const SampleBatch batch = chunks.Sample(8);
    REQUIRE(batch.samples.size() == 8);
    RequireWhole(batch, NumbersUpTo(40));
    for (const SampledItem& sample : batch.samples) seen.insert(sample.item->id.environment_id);
  }
  REQUIRE_FALSE(chunks.unread);
}

TEST_CASE("while the disk has not written, contents are refused and no item leaves for them") {
  const ChunkShard chunks(4);
  int inserted = 0;
  absl::Status status;
  while ((status = chunks.Insert(static_cast<std::uint64_t>(inserted), {inserted})).ok()) {
    ++inserted;
  }
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(chunks.shard->ContentsFull());
  REQUIRE(chunks.shard->stats().tables[0].size == static_cast<std::size_t>(inserted));
  chunks.disk->Write();
  REQUIRE_FALSE(chunks.shard->ContentsFull());
  REQUIRE(chunks.Insert(static_cast<std::uint64_t>(inserted), {inserted}).ok());
  REQUIRE(chunks.shard->stats().tables[0].size == static_cast<std::size_t>(inserted) + 1);
}

TEST_CASE("contents other than chunks that fill the memory evict items, as without a disk") {
  const ChunkShard chunks(1);
  int number = 0;
  while (chunks.in_memory() + EmbeddingNumber(0).bytes() <= chunks.memory) {
    REQUIRE(chunks.shard->Put(EmbeddingNumber(number)).ok());
    auto item = ItemNumber(static_cast<std::uint64_t>(number));
    item->keys = ContentKeys({KeyNumber(number)});
    REQUIRE(chunks.shard->Insert("unrolls", item).ok());
    ++number;
  }
  REQUIRE(chunks.shard->Put(EmbeddingNumber(number)).ok());
  REQUIRE(chunks.in_memory() <= chunks.memory);
  REQUIRE(chunks.shard->stats().tables[0].size < static_cast<std::size_t>(number));
}

TEST_CASE("a chunk that the disk has lost costs the items that use it, and no others") {
  const ChunkShard chunks(2);
  for (int number = 0; number < 12; ++number) {
    // Items 0 and 1 share a chunk, and so on.
    chunks.InsertWriting(number, {number / 2});
  }
  // Contents are numbered from 1.
  chunks.disk->DamageChunk(2);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const SampleBatch batch = chunks.Sample(4);
    RequireWhole(batch, NumbersUpTo(12));
    for (const SampledItem& sample : batch.samples) seen.insert(sample.item->id.environment_id);
  }
  REQUIRE(seen == std::set<std::uint64_t>{0, 1, 4, 5, 6, 7, 8, 9, 10, 11});
  const ShardStats stats = chunks.shard->stats();
  REQUIRE(stats.tables[0].size == 10);
  REQUIRE(stats.tables[0].lost_total >= 2);
}

TEST_CASE("a chunk that the disk has lost is missing, and comes back when it is put again") {
  const ChunkShard chunks(2);
  for (int number = 0; number < 12; ++number) chunks.InsertWriting(number, {number / 2});
  chunks.disk->DamageChunk(2);
  const auto lost = [&chunks] { return chunks.shard->stats().tables[0].lost_total; };
  for (int i = 0; i < 1000 && lost() == 0; ++i) chunks.Sample(1);
  REQUIRE(lost() == 1);
  // The other one of the items that use it is still there.
  REQUIRE(chunks.shard->stats().tables[0].size == 11);
  auto item = ItemNumber(20);
  item->keys = ChunkKeys({KeyNumber(0), KeyNumber(1)});
  REQUIRE(chunks.shard->Missing(*item) == std::vector<Key>{KeyNumber(1)});
  REQUIRE(absl::IsNotFound(chunks.shard->Insert("unrolls", item)));
  Content other = LargeChunk(1);
  std::get<Chunk>(other.body).data += "more";
  REQUIRE(absl::IsInvalidArgument(chunks.shard->Put(std::move(other))));
  const std::size_t contents = chunks.shard->stats().content_bytes;
  chunks.InsertWriting(20, {0, 1});
  REQUIRE(chunks.shard->stats().content_bytes == contents);
  // It leaves memory again.
  for (int number = 21; number < 30; ++number) chunks.InsertWriting(number, {number});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const SampleBatch batch = chunks.Sample(4);
    RequireWhole(batch, NumbersUpTo(30));
    for (const SampledItem& sample : batch.samples) seen.insert(sample.item->id.environment_id);
  }
  REQUIRE(seen.size() == 11 + 10);
  REQUIRE(lost() == 1);
  REQUIRE(chunks.disk->WrittenChunks() == chunks.disk->told_chunks());
}

TEST_CASE("a reader that finds a chunk damaged does not lose one that was put since") {
  const ChunkShard chunks(2);
  for (int number = 0; number < 6; ++number) chunks.InsertWriting(number, {number});
  chunks.disk->DamageChunk(1);
  const int reader = *chunks.shard->OpenReader();
  const auto sample_first = [&] {
    for (int i = 0; i < 1000; ++i) {
      SampleBatch batch = chunks.shard->Sample("unrolls", reader, 6, 1);
      if (batch.samples[0].item->id.environment_id == 0) return batch;
      ReadAll(*chunks.shard, batch);
    }
    FAIL("the first item is not drawn");
    return SampleBatch{};
  };
  SampleBatch first = sample_first();
  chunks.shard->Forget(reader, std::vector{KeyNumber(0)});
  SampleBatch second = sample_first();
  ReadAll(*chunks.shard, first);
  REQUIRE(chunks.shard->stats().tables[0].lost_total == 1);
  chunks.InsertWriting(6, {0});
  for (int number = 7; number < 12; ++number) chunks.InsertWriting(number, {number});
  ReadAll(*chunks.shard, second);
  const auto item = ItemNumber(20);
  item->keys = ChunkKeys({KeyNumber(0)});
  REQUIRE(chunks.shard->Missing(*item).empty());
}

TEST_CASE(
    "a chunk that cannot be read comes with the next sample, and costs an item its last use") {
  const ChunkShard chunks(2, {.max_times_sampled = 2});
  for (int number = 0; number < 6; ++number) chunks.InsertWriting(number, {number});
  chunks.disk->RefuseChunks(true);
  // The oldest chunks are on disk.
  REQUIRE(chunks.Sample(1).samples.empty());
  REQUIRE(chunks.unread);
  REQUIRE(chunks.shard->stats().tables[0].size == 6);
  chunks.disk->RefuseChunks(false);
  const SampleBatch batch = chunks.Sample(1);
  REQUIRE(batch.samples.size() == 1);
  RequireWhole(batch, NumbersUpTo(6));
  REQUIRE_FALSE(chunks.unread);
  // The use that was not read counted, so the item has left.
  REQUIRE(chunks.shard->stats().tables[0].size == 5);
  chunks.disk->RefuseChunks(true);
  REQUIRE(chunks.Sample(1).samples.empty());
  REQUIRE(chunks.Sample(1).samples.empty());
  REQUIRE(chunks.shard->stats().tables[0].lost_total == 1);
  REQUIRE(chunks.shard->stats().tables[0].size == 4);
}

TEST_CASE("once the disk can make no more room, items leave for contents that come") {
  const ChunkShard chunks(2);
  int number = 0;
  // What stays in memory of chunks on disk fills it.
  for (; chunks.shard->stats().tables[0].evicted_for_room_total == 0; ++number) {
    REQUIRE(number < 1000);
    const absl::Status status = chunks.Insert(static_cast<std::uint64_t>(number), {number});
    REQUIRE((status.ok() || absl::IsResourceExhausted(status)));
    chunks.disk->Write();
    REQUIRE_FALSE(chunks.shard->ContentsFull());
  }
  REQUIRE(chunks.in_memory() <= chunks.memory);
}

TEST_CASE("the limiter holds while chunks wait for the disk") {
  const ChunkShard chunks(4, {.sampler = SelectorKind::kUniform,
                              .remover = SelectorKind::kFifo,
                              .max_times_sampled = 0,
                              .limiter = {.min_size = 100}});
  int number = 0;
  while (chunks.Insert(static_cast<std::uint64_t>(number), {number}).ok()) ++number;
  REQUIRE(chunks.shard->ContentsFull());
  REQUIRE(chunks.shard->tables()[0].insert_wait == Wait::kMemory);
  REQUIRE(chunks.Sample(1).samples.empty());
}

TEST_CASE("while the disk cannot be read, samples wait and no item is lost") {
  const ChunkShard chunks(2);
  for (int number = 0; number < 12; ++number) {
    chunks.InsertWriting(number, {number});
  }
  chunks.disk->Fail(true);
  REQUIRE(chunks.Sample(4).samples.empty());
  REQUIRE(chunks.shard->SampleWait("unrolls") == Wait::kDisk);
  chunks.disk->Fail(false);
  REQUIRE(chunks.Sample(4).samples.size() == 4);
  REQUIRE(chunks.shard->stats().tables[0].size == 12);
}

TEST_CASE(
    "whatever comes, goes, and is written, contents stay within memory and samples are whole") {
  runtime::Random random(7);
  const ChunkShard chunks(6, {.sampler = SelectorKind::kUniform,
                              .remover = SelectorKind::kFifo,
                              .max_size = 60,
                              .max_times_sampled = 3});
  const std::map<Key, int> numbers = NumbersUpTo(4000);
  int next = 0;
  std::uint64_t items = 0;
  std::size_t sampled = 0;
  for (int step = 0; step < 6000; ++step) {
    switch (random.Below(5)) {
      case 0:
      case 1: {
        // Neighbours share chunks, as items of one trajectory do.
        std::vector<int> used;
        for (int i = static_cast<int>(random.Below(3)); i >= 0; --i) {
          used.push_back(std::max(0, next - i));
        }
        next += static_cast<int>(random.Below(2));
        const absl::Status status = chunks.Insert(items++, used);
        REQUIRE((status.ok() || absl::IsResourceExhausted(status)));
        break;
      }
      case 2:
        chunks.disk->Write();
        break;
      default: {
        const SampleBatch batch = chunks.Sample(1 + random.Below(4));
        RequireWhole(batch, numbers);
        sampled += batch.samples.size();
      }
    }
    REQUIRE(chunks.in_memory() <= chunks.memory);
  }
  REQUIRE(next > 500);
  REQUIRE(sampled > 1500);
  REQUIRE(chunks.shard->stats().tables[0].lost_total == 0);
  // The disk keeps nothing of what has left.
  chunks.disk->Write();
  REQUIRE(chunks.disk->WrittenChunks() == chunks.disk->told_chunks());
  REQUIRE(chunks.disk->told_chunks().size() <= chunks.shard->stats().chunk_count);
}

}  // namespace
}  // namespace shoal::replay
