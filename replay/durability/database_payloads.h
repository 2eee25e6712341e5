// SPDX-License-Identifier: Apache-2.0
// Reads payloads and chunks from a shard's database as it was at one moment, which is a snapshot of
// RocksDB.
//
// Thread-safe. It keeps the database open.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<absl::StatusOr<std::string>> ReadChunks(
      std::span<const std::uint64_t> numbers) const override;

 private:
  rocksdb::ReadOptions Options() const;
  // Returns what `value_from` makes of the record under each key. Records that lie side by side are
  // read together.
  std::vector<absl::StatusOr<std::string>> ReadTogether(
      Column column, const std::vector<std::string>& keys,
      absl::FunctionRef<absl::StatusOr<std::string>(std::string_view key, std::string_view sealed)>
          value_from) const;

  const std::shared_ptr<Database> database_;
  const std::shared_ptr<const std::vector<std::string>> tables_;
  const rocksdb::Snapshot* const snapshot_;
};

}  // namespace shoal::replay::durability
