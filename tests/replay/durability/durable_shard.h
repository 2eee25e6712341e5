// SPDX-License-Identifier: Apache-2.0
// A shard with a journal in a directory, and what tests do with it again and again.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/doubles/eventually.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {

inline absl::StatusOr<std::unique_ptr<Shard>> Open(const std::string& directory,
                                                   const std::vector<TableOptions>& tables,
                                                   rocksdb::Env* env = nullptr,
                                                   runtime::Clock& clock = runtime::SystemClock(),
                                                   const ContentStoreOptions& contents = {}) {
  SHOAL_ASSIGN_OR_RETURN(
      auto journal,
      DiskJournal::Create(
          {.directory = directory, .retry = std::chrono::milliseconds(1), .env = env}, clock));
  return Shard::Create({.tables = tables, .contents = contents}, clock, std::move(journal));
}

inline std::unique_ptr<Shard> MustOpen(const std::string& directory,
                                       const std::vector<TableOptions>& tables,
                                       rocksdb::Env* env = nullptr) {
  auto shard = Open(directory, tables, env);
  INFO(shard.status().ToString());
  REQUIRE(shard.ok());
  return *std::move(shard);
}

inline TableOptions Always(std::uint32_t max_times_sampled = 1) {
  return {.max_times_sampled = max_times_sampled, .durability = Durability::kAlways};
}

inline absl::Status Insert(Shard& shard, std::uint64_t number,
                           const std::string& table = "unrolls") {
  auto item = ItemNumber(number);
  item->payload += std::to_string(number);
  return shard.Insert(table, item);
}

// Waits until everything up to now is on disk.
inline void AwaitDurable(Shard& shard) {
  REQUIRE(doubles::Eventually([&] { return shard.stats().journal.waiting_changes == 0; }));
}

// The numbers of the items that come out when the table is emptied, in order.
inline std::vector<std::uint64_t> Drain(Shard& shard, const std::string& table = "unrolls") {
  std::vector<std::uint64_t> numbers;
  const int reader = *shard.OpenReader();
  while (true) {
    const SampleBatch batch = shard.Sample(table, reader, 16, 1 << 20);
    if (batch.samples.empty()) break;
    for (const SampledItem& sample : batch.samples) {
      const std::uint64_t number = sample.item->id.environment_id;
      REQUIRE(sample.item->payload == std::string(100, 'p') + std::to_string(number));
      numbers.push_back(number);
    }
  }
  shard.CloseReader(reader);
  return numbers;
}

}  // namespace shoal::replay::durability
