// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/changes.h"

#include <algorithm>
#include <array>

#include "replay/durability/records.h"
#include "replay/wire.h"

namespace shoal::replay::durability {

void Changes::Insert(std::size_t table, Handle handle, const std::shared_ptr<const Item>& item,
                     std::uint64_t came_unix_ns) {
  tables_[table].items[handle] = {
      .inserted = item, .came_unix_ns = came_unix_ns, .row = Row{.priority = item->priority}};
  bytes_ += item->payload.size();
}

void Changes::Spill(std::size_t table, Handle handle, const std::shared_ptr<const Item>& item) {
  tables_[table].items[handle].inserted = item;
  bytes_ += item->payload.size();
}

void Changes::SetRow(std::size_t table, Handle handle, const Row& row) {
  tables_[table].items[handle].row = row;
}

void Changes::Delete(std::size_t table, Handle handle) {
  absl::flat_hash_map<Handle, ItemChange>& items = tables_[table].items;
  ItemChange& change = items[handle];
  if (change.inserted != nullptr) {
    bytes_ -= change.inserted->payload.size();
    items.erase(handle);
  } else {
    change = {};
  }
}

void Changes::See(std::size_t table, std::uint64_t count, std::size_t window, const UnrollId& id) {
  if (window == 0) return;
  tables_[table].seen[count] = id;
  if (count >= window) DeleteSeen(table, count - window);
}

void Changes::DeleteSeen(std::size_t table, std::uint64_t count) {
  tables_[table].seen[count] = std::nullopt;
}

void Changes::Put(std::uint64_t number, const std::shared_ptr<const Content>& content) {
  Evict(number);
  contents_[number] = content;
  bytes_ += content->bytes();
}

void Changes::Evict(std::uint64_t number) {
  std::shared_ptr<const Content>& content = contents_[number];
  if (content != nullptr) bytes_ -= content->bytes();
  content = nullptr;
}

void Changes::AddItems(std::size_t table, rocksdb::WriteBatch& batch,
                       const Database& database) const {
  rocksdb::ColumnFamilyHandle* const items = database.column(Column::kItems);
  rocksdb::ColumnFamilyHandle* const state = database.column(Column::kState);
  for (const auto& [handle, change] : tables_[table].items) {
    const std::string key = ItemKey(names_[table], handle);
    const std::string row_key = RowKey(names_[table], handle);
    if (change.deleted()) {
      batch.Delete(items, key);
      batch.Delete(state, row_key);
      continue;
    }
    if (change.inserted != nullptr) {
      const std::string head = ItemHead(*change.inserted, change.came_unix_ns);
      const std::string& payload = change.inserted->payload;
      const std::string checksum = Checksum(key, head, payload);
      const rocksdb::Slice key_part(key);
      const std::array<rocksdb::Slice, 3> parts = {head, payload, checksum};
      batch.Put(items, rocksdb::SliceParts(&key_part, 1),
                rocksdb::SliceParts(parts.data(), static_cast<int>(parts.size())));
    }
    if (change.row) {
      proto::JournalRow row;
      row.set_priority(change.row->priority);
      row.set_uses(change.row->uses);
      batch.Put(state, row_key, Seal(row_key, row.SerializeAsString()));
    }
  }
}

void Changes::AddExcluded(std::size_t table, rocksdb::WriteBatch& batch,
                          const Database& database) const {
  if (!tables_[table].excluded) return;
  rocksdb::ColumnFamilyHandle* const state = database.column(Column::kState);
  const ExcludedVersions& excluded = *tables_[table].excluded;
  const std::size_t count = CountOf(excluded);
  for (std::size_t i = 0; i < std::max(count, tables_[table].excluded_before); ++i) {
    const std::string key = ExclusionKey(names_[table], i);
    if (i < count) {
      batch.Put(state, key, Seal(key, ToProto((*excluded)[i]).SerializeAsString()));
    } else {
      batch.Delete(state, key);
    }
  }
}

void Changes::AddTo(rocksdb::WriteBatch& batch, const Database& database) const {
  rocksdb::ColumnFamilyHandle* const state = database.column(Column::kState);
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    AddItems(table, batch, database);
    AddExcluded(table, batch, database);
    for (const auto& [count, id] : tables_[table].seen) {
      const std::string key = SeenKey(names_[table], count);
      if (id) {
        batch.Put(state, key, Seal(key, SeenValue(*id)));
      } else {
        batch.Delete(state, key);
      }
    }
    if (tables_[table].state) {
      const std::string key = TableKey(names_[table]);
      batch.Put(state, key, Seal(key, ToProto(*tables_[table].state).SerializeAsString()));
    }
  }
  if (learner_checkpoint_) {
    const std::string key(kLearnerKey);
    batch.Put(state, key, Seal(key, *learner_checkpoint_));
  }
  rocksdb::ColumnFamilyHandle* const contents = database.column(Column::kContents);
  for (const auto& [number, content] : contents_) {
    const std::string key = ContentRecordKey(number);
    if (content != nullptr) {
      batch.Put(contents, key, Seal(key, replay::ToProto(*content).SerializeAsString()));
    } else {
      batch.Delete(contents, key);
    }
  }
}

}  // namespace shoal::replay::durability
