// SPDX-License-Identifier: Apache-2.0
// A durable shard whose files were damaged while it was away.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "replay/durability/database.h"
#include "replay/durability/records.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/durable_shard.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {
namespace {

using doubles::TemporaryFolder;

// Fills a shard and leaves its records in files, not in the log.
// Before these items so many others come and go.
void WriteItems(const std::string& directory, std::uint64_t items, std::uint64_t earlier = 0) {
  auto shard = MustOpen(directory, {Always()});
  const int reader = *shard->OpenReader();
  for (std::uint64_t i = 1; i <= earlier; ++i) {
    REQUIRE(Insert(*shard, items + i).ok());
    REQUIRE(shard->Sample("unrolls", reader, 1, 1).samples.size() == 1);
  }
  for (std::uint64_t i = 1; i <= items; ++i) {
    auto item = ItemNumber(i);
    item->payload = std::string(2000, static_cast<char>('a' + i % 26)) + std::to_string(i);
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  shard.reset();
  MustOpen(directory, {Always()}).reset();
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteAll(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("a flipped bit in an item's payload costs this item and no other") {
  const std::uint64_t earlier = GENERATE(0, 3000);
  const TemporaryFolder folder;
  WriteItems(folder.path(), 30, earlier);
  bool flipped = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::string bytes = ReadAll(entry.path());
    const std::size_t at = bytes.find(std::string(1000, 'a' + 7));
    if (at == std::string::npos) continue;
    bytes[at + 500] ^= 4;
    WriteAll(entry.path(), bytes);
    flipped = true;
  }
  REQUIRE(flipped);
  auto shard = MustOpen(folder.path(), {Always()});
  REQUIRE(shard->stats().journal.damaged_total == 1);
  REQUIRE(shard->stats().tables[0].size == 29);
  const int reader = *shard->OpenReader();
  for (std::uint64_t i = 1; i <= 30; ++i) {
    if (i == 7) continue;
    const SampleBatch batch = shard->Sample("unrolls", reader, 1, 1);
    REQUIRE(batch.samples[0].item->id.environment_id == i);
  }
}

TEST_CASE("damage to what a table remembers is counted, and costs only what the records held") {
  const TemporaryFolder folder;
  auto shard = MustOpen(folder.path(), {Always()});
  REQUIRE(shard->Exclude({.first = {1, 2}, .last = {1, 4}}).ok());
  REQUIRE(shard->Exclude({.first = {1, 9}, .last = {1, 12}}).ok());
  for (std::uint64_t i = 1; i <= 3; ++i) {
    auto item = ItemNumber(i, 20);
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  shard.reset();
  {
    const auto database = *Database::Open(folder.path(), rocksdb::Env::Default());
    rocksdb::WriteBatch batch;
    for (const std::string& key :
         {TableKey("unrolls"), SeenKey("unrolls", 1), ExclusionKey("unrolls", 1)}) {
      REQUIRE(batch.Put(database->column(Column::kState), key, "damaged").ok());
    }
    REQUIRE(database->Write(batch).ok());
  }
  for (const std::uint64_t damaged : {std::uint64_t{3}, std::uint64_t{0}}) {
    shard = MustOpen(folder.path(), {Always()});
    REQUIRE(shard->stats().journal.damaged_total == damaged);
    REQUIRE(shard->stats().tables[0].size == 3);
    auto refused = ItemNumber(10, 3);
    REQUIRE(absl::IsFailedPrecondition(shard->Insert("unrolls", refused)));
    shard.reset();
  }
  shard = MustOpen(folder.path(), {Always()});
  auto taken = ItemNumber(11, 10);
  REQUIRE(shard->Insert("unrolls", taken).ok());
}

TEST_CASE("a range of versions that stands in an older record of a table is excluded still") {
  const TemporaryFolder folder;
  MustOpen(folder.path(), {Always()}).reset();
  {
    const auto database = *Database::Open(folder.path(), rocksdb::Env::Default());
    proto::JournalTable older = ToProto(TableRecord());
    *older.add_excluded() = ToProto(VersionRange{.first = {1, 2}, .last = {1, 4}});
    rocksdb::WriteBatch batch;
    const std::string key = TableKey("unrolls");
    const std::string sealed = Seal(key, older.SerializeAsString());
    REQUIRE(batch.Put(database->column(Column::kState), key, sealed).ok());
    REQUIRE(database->Write(batch).ok());
  }
  for (int start = 0; start < 2; ++start) {
    const auto shard = MustOpen(folder.path(), {Always()});
    auto item = ItemNumber(1, 3);
    REQUIRE(absl::IsFailedPrecondition(shard->Insert("unrolls", item)));
  }
}

TEST_CASE("torn and flipped files cost items or a clear error, never a crash or a wrong item") {
  const TemporaryFolder folder;
  const std::string whole = folder.At("whole");
  WriteItems(whole, 30);
  std::mt19937_64 random(1);
  int opened = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string copy = folder.At("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(whole, copy);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(copy)) {
      if (entry.file_size() > 0) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    const std::filesystem::path& victim = files[random() % files.size()];
    std::string bytes = ReadAll(victim);
    const std::size_t at = random() % bytes.size();
    if (round % 3 == 0) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    }
    WriteAll(victim, bytes);
    INFO("round " << round << " " << victim << " at " << at);
    auto shard = Open(copy, {Always()});
    if (!shard.ok()) {
      REQUIRE(runtime::Message(shard.status()).find(copy) != std::string::npos);
      continue;
    }
    ++opened;
    const int reader = *(*shard)->OpenReader();
    std::uint64_t last = 0;
    while (true) {
      const SampleBatch batch = (*shard)->Sample("unrolls", reader, 1, 1);
      if (batch.samples.empty()) break;
      const std::uint64_t number = batch.samples[0].item->id.environment_id;
      REQUIRE(number > last);
      REQUIRE(batch.samples[0].item->payload ==
              std::string(2000, static_cast<char>('a' + number % 26)) + std::to_string(number));
      last = number;
    }
  }
  REQUIRE(opened > 30);
}

}  // namespace
}  // namespace shoal::replay::durability
