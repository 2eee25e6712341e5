// SPDX-License-Identifier: Apache-2.0
// Reads payloads and chunks from a shard's database as it was at one moment, which is a snapshot of
// RocksDB.
//
// Thread-safe. It keeps the database open.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/durability/database.h"
#include "replay/spill.h"

namespace shoal::replay::durability {

class DatabasePayloads final : public SpilledPayloads {
 public:
  // `tables` are the names of the shard's tables.
  DatabasePayloads(std::shared_ptr<Database> database,
                   std::shared_ptr<const std::vector<std::string>> tables);
  ~DatabasePayloads() override;

  std::vector<absl::StatusOr<std::string>> Read(std::size_t table,
                                                std::span<const Handle> handles) const override;
  absl::StatusOr<std::string> ReadChunk(std::uint64_t number) const override;

 private:
  rocksdb::ReadOptions Options() const;

  const std::shared_ptr<Database> database_;
  const std::shared_ptr<const std::vector<std::string>> tables_;
  const rocksdb::Snapshot* const snapshot_;
};

}  // namespace shoal::replay::durability
