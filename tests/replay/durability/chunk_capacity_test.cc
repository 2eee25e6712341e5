// SPDX-License-Identifier: Apache-2.0
// Contents whose chunks are larger than their memory, with a real database.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/read_parts.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kChunkBytes = 20000;
constexpr std::size_t kChunkMemory = 10 * kChunkBytes;
constexpr int kChunks = 60;

// Incompressible, and another one for each number.
std::string ChunkData(int number) {
  runtime::Random random(static_cast<std::uint64_t>(number));
  std::string data(kChunkBytes, '\0');
  for (char& byte : data) byte = static_cast<char>(random());
  return data;
}

Key KeyOfChunk(int number) { return content::KeyOf(ChunkData(number)); }

// A shard whose one table has items of a chunk each.
class ShardOfChunks {
 public:
  ShardOfChunks(const std::string& directory, Durability durability) {
    auto journal = DiskJournal::Create({.directory = directory});
    REQUIRE(journal.ok());
    auto shard = Shard::Create({.tables = {{.max_times_sampled = 1, .durability = durability}},
                                .contents = {.memory_bytes = kChunkMemory}},
                               runtime::SystemClock(), *std::move(journal));
    REQUIRE(shard.ok());
    shard_ = *std::move(shard);
    reader_ = *shard_->OpenReader();
  }

  void Fill() const {
    for (int number = 0; number < kChunks; ++number) {
      REQUIRE(doubles::Eventually([&] {
        return shard_->Put({.key = KeyOfChunk(number), .body = Chunk{.data = ChunkData(number)}})
            .ok();
      }));
      REQUIRE(in_memory() <= kChunkMemory);
      auto item = ItemNumber(static_cast<std::uint64_t>(number));
      item->keys = ChunkKeys({KeyOfChunk(number)});
      REQUIRE(doubles::Eventually([&] { return shard_->Insert("unrolls", item).ok(); }));
    }
    REQUIRE(doubles::Eventually([&] { return shard_->stats().journal.waiting_changes == 0; }));
  }
  // Returns the numbers of the items that are given out with their chunk.
  std::set<std::uint64_t> Whole() const {
    std::set<std::uint64_t> whole;
    std::map<Key, std::string> chunks;
    for (int i = 0; i < kChunks; ++i) {
      SampleBatch batch = shard_->Sample("unrolls", reader_, 1, 1);
      ReadAll(*shard_, batch);
      for (const auto& content : batch.contents) {
        chunks[content->key] = std::get<Chunk>(content->body).data;
      }
      for (const SampledItem& sample : batch.samples) {
        const auto number = sample.item->id.environment_id;
        REQUIRE(chunks[sample.item->keys->chunks[0]] == ChunkData(static_cast<int>(number)));
        whole.insert(number);
      }
    }
    return whole;
  }
  std::size_t in_memory() const { return stats().content_bytes - stats().content_disk_bytes; }
  ShardStats stats() const { return shard_->stats(); }

 private:
  std::unique_ptr<Shard> shard_;
  int reader_ = 0;
};

std::set<std::uint64_t> AllChunks() {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < kChunks; ++number) numbers.insert(number);
  return numbers;
}

TEST_CASE("chunks that are six times their memory are given whole, whatever the durability") {
  for (const Durability durability : {Durability::kNone, Durability::kBatch, Durability::kAlways}) {
    const doubles::TemporaryFolder folder;
    const ShardOfChunks shard(folder.path(), durability);
    shard.Fill();
    REQUIRE(shard.stats().content_disk_bytes > 45 * kChunkBytes);
    REQUIRE(shard.Whole() == AllChunks());
  }
}

TEST_CASE("durable chunks that are larger than their memory are there again, and as small") {
  const doubles::TemporaryFolder folder;
  ShardOfChunks(folder.path(), Durability::kAlways).Fill();
  const ShardOfChunks shard(folder.path(), Durability::kAlways);
  REQUIRE(shard.stats().tables[0].size == kChunks);
  REQUIRE(shard.in_memory() <= kChunkMemory);
  REQUIRE(shard.Whole() == AllChunks());
}

TEST_CASE("chunks that were spilled without durability are deleted when the shard begins again") {
  const doubles::TemporaryFolder folder;
  ShardOfChunks(folder.path(), Durability::kNone).Fill();
  const ShardOfChunks shard(folder.path(), Durability::kNone);
  REQUIRE(shard.stats().content_count == 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".blob") REQUIRE(entry.file_size() == 0);
  }
  shard.Fill();
  REQUIRE(shard.Whole() == AllChunks());
}

TEST_CASE("a chunk that is damaged on disk costs the item that uses it, and no other") {
  const doubles::TemporaryFolder folder;
  ShardOfChunks(folder.path(), Durability::kAlways).Fill();
  // Opened once more, the database has all chunks in files in place of the log that comes first.
  { const ShardOfChunks opened(folder.path(), Durability::kAlways); }
  const ShardOfChunks shard(folder.path(), Durability::kAlways);
  const std::string data = ChunkData(3);
  int places = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t at = bytes.find(data);
    if (at == std::string::npos) continue;
    file.clear();
    file.seekp(static_cast<std::streamoff>(at + kChunkBytes / 2));
    file.put(static_cast<char>(~data[kChunkBytes / 2]));
    ++places;
  }
  REQUIRE(places == 1);
  std::set<std::uint64_t> others = AllChunks();
  others.erase(3);
  REQUIRE(shard.Whole() == others);
  REQUIRE(shard.stats().tables[0].lost_total == 1);
}

}  // namespace
}  // namespace shoal::replay::durability
