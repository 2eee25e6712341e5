// SPDX-License-Identifier: Apache-2.0
// What has changed since the last write: for each item, content and table the last word only, so
// that an item which came and went in between is never written.
//
// Not thread-safe. The items and contents are those of the shard, not copies.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/content_store.h"
#include "replay/durability/database.h"
#include "replay/excluded_versions.h"
#include "replay/item.h"
#include "replay/table.h"

namespace shoal::replay::durability {

// One item's row: what changes while it is in the table.
struct Row {
  float priority = 0;
  // The number of uses that are given out or reserved.
  std::uint32_t uses = 0;
};

class Changes {
 public:
  // `tables` are the names of the tables, by which the functions below number them.
  explicit Changes(std::vector<std::string> tables)
      : names_(std::move(tables)), tables_(names_.size()) {}

  void Insert(std::size_t table, Handle handle, const std::shared_ptr<const Item>& item,
              std::uint64_t came_unix_ns);
  // Only the item's payload will be read again.
  void Spill(std::size_t table, Handle handle, const std::shared_ptr<const Item>& item);
  void SetRow(std::size_t table, Handle handle, const Row& row);
  void Delete(std::size_t table, Handle handle);
  // The `count`-th id that the table has seen, counted from 0. One that is `window` older leaves.
  void See(std::size_t table, std::uint64_t count, std::size_t window, const UnrollId& id);
  void DeleteSeen(std::size_t table, std::uint64_t count);
  void SetState(std::size_t table, const TableRecord& state) { tables_[table].state = state; }
  // All that the table excludes now, in place of so many ranges `before`.
  void SetExcluded(std::size_t table, ExcludedVersions excluded, std::size_t before) {
    TableChange& change = tables_[table];
    change.excluded = std::move(excluded);
    change.excluded_before = std::max(change.excluded_before, before);
  }
  void SetLearnerCheckpoint(const std::string& id) { learner_checkpoint_ = id; }
  void Put(std::uint64_t number, const std::shared_ptr<const Content>& content);
  void Evict(std::uint64_t number);

  // The bytes of new payloads and contents.
  std::size_t bytes() const { return bytes_; }
  void AddTo(rocksdb::WriteBatch& batch, const Database& database) const;

 private:
  // An item that has neither come nor has a new row was deleted.
  struct ItemChange {
    // Null unless the item is new.
    std::shared_ptr<const Item> inserted;
    std::uint64_t came_unix_ns = 0;
    std::optional<Row> row;

    bool deleted() const { return inserted == nullptr && !row; }
  };
  struct TableChange {
    absl::flat_hash_map<Handle, ItemChange> items;
    // Without a value: the id is forgotten.
    absl::flat_hash_map<std::uint64_t, std::optional<UnrollId>> seen;
    std::optional<TableRecord> state;
    std::optional<ExcludedVersions> excluded;
    // The most ranges of which records may be there.
    std::size_t excluded_before = 0;
  };

  void AddItems(std::size_t table, rocksdb::WriteBatch& batch, const Database& database) const;
  void AddExcluded(std::size_t table, rocksdb::WriteBatch& batch, const Database& database) const;

  const std::vector<std::string> names_;
  std::vector<TableChange> tables_;
  // Null: the content was evicted.
  absl::flat_hash_map<std::uint64_t, std::shared_ptr<const Content>> contents_;
  std::optional<std::string> learner_checkpoint_;
  std::size_t bytes_ = 0;
};

}  // namespace shoal::replay::durability
