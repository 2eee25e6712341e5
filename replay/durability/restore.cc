// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/restore.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "replay/durability/records.h"
#include "replay/durability/reservation.h"

namespace shoal::replay::durability {
namespace {

// Returns the number of gaps.
std::uint64_t ReportGaps(const std::string& table, const std::string& what, const Cursor& cursor) {
  for (const std::uint64_t key : cursor.gaps()) {
    ReportLoss(table, key, runtime::DataLoss(what + " from here on cannot be read"));
  }
  return cursor.gaps().size();
}

class TableRestorer {
 public:
  TableRestorer(Database& database, Table& table, std::size_t index, Changes& changes,
                const runtime::Clock& clock)
      : database_(database),
        table_(table),
        name_(table.options().name),
        index_(index),
        changes_(changes),
        now_ns_(clock.UnixNanos()),
        reservation_(ReservationSize(table.options().max_times_sampled)) {}

  absl::StatusOr<RestoredTable> Run() {
    RestoreState();
    RestoreSeen();
    RestoreItems();
    SHOAL_RETURN_IF_ERROR(RestoreSignature());
    return restored_;
  }

 private:
  void Lose(std::uint64_t key, const absl::Status& status, const std::string& what) {
    ReportLoss(name_, key, runtime::Annotate(status, what));
    ++restored_.damaged;
  }

  void RestoreState() {
    const std::string key = TableKey(name_);
    std::string sealed;
    const rocksdb::Status status =
        database_.db().Get(rocksdb::ReadOptions(), database_.column(Column::kState), key, &sealed);
    TableRecord record;
    if (!status.IsNotFound()) {
      const auto state =
          status.ok() ? TableFrom(key, sealed)
                      : absl::StatusOr<proto::JournalTable>(runtime::DataLoss(status.ToString()));
      if (state.ok()) {
        record = FromProto(*state);
        signature_ = state->signature();
      } else {
        Lose(0, state.status(), "the table's counts");
      }
    }
    RestoreExcluded(record);
    table_.Restore(record);
  }

  void RestoreExcluded(TableRecord& record) {
    Cursor cursor(database_, Column::kState, Prefix('X', name_));
    std::size_t records = 0;
    for (; cursor.valid(); cursor.Next()) {
      records = std::min<std::uint64_t>(cursor.number() + 1, kMostExcludedRanges);
      const absl::StatusOr<VersionRange> range = ExclusionFrom(cursor.key(), cursor.value());
      if (range.ok()) {
        record.excluded = With(record.excluded, *range);
      } else {
        Lose(cursor.number(), range.status(), "an excluded range of versions");
      }
    }
    restored_.damaged += ReportGaps(name_, "excluded ranges of versions", cursor);
    changes_.SetExcluded(index_, record.excluded, records);
  }

  absl::Status RestoreSignature() {
    if (signature_.empty()) return absl::OkStatus();
    const absl::StatusOr<Signature> signature = Signature::Parse(signature_);
    if (!signature.ok()) {
      Lose(0, signature.status(), "the table's signature");
      return absl::OkStatus();
    }
    return runtime::Annotate(table_.RestoreSignature(*signature),
                             "the items on disk are of another signature than configured");
  }

  void RestoreSeen() {
    Cursor cursor(database_, Column::kState, Prefix('S', name_));
    for (; cursor.valid(); cursor.Next()) {
      const auto id = SeenFrom(cursor.key(), cursor.value());
      restored_.seen = cursor.number() + 1;
      if (id.ok()) {
        table_.RestoreSeen(*id);
      } else {
        Lose(cursor.number(), id.status(), "a remembered id");
        changes_.DeleteSeen(index_, cursor.number());
      }
    }
    restored_.damaged += ReportGaps(name_, "remembered ids", cursor);
    Cursor oldest(database_, Column::kState, Prefix('S', name_));
    for (; oldest.valid() && oldest.number() + table_.options().id_window < restored_.seen;
         oldest.Next()) {
      changes_.DeleteSeen(index_, oldest.number());
    }
  }

  void RestoreItems() {
    Cursor items(database_, Column::kItems, Prefix('I', name_));
    Cursor rows(database_, Column::kState, Prefix('R', name_));
    std::uint64_t lost = 0;
    while (items.valid() || rows.valid()) {
      const bool has_item = items.valid() && (!rows.valid() || items.number() <= rows.number());
      const bool has_row = rows.valid() && (!items.valid() || rows.number() <= items.number());
      const Handle handle = has_item ? items.number() : rows.number();
      const absl::Status status =
          has_item && has_row
              ? RestoreItem(handle, items, rows)
              : runtime::DataLoss(has_item ? "the row is missing" : "the item is missing");
      if (!status.ok()) {
        ReportLoss(name_, handle, status);
        ++lost;
        changes_.Delete(index_, handle);
      }
      if (has_item) items.Next();
      if (has_row) rows.Next();
    }
    const std::uint64_t gaps =
        ReportGaps(name_, "items", items) + ReportGaps(name_, "rows of items", rows);
    // Where only one of an item's two records lies in a gap, the other one has told of it.
    restored_.damaged += lost > 0 ? lost : gaps;
  }

  absl::Status RestoreItem(Handle handle, const Cursor& items, const Cursor& rows) {
    SHOAL_ASSIGN_OR_RETURN(ItemRecord record, ItemFrom(items.key(), items.value()));
    SHOAL_ASSIGN_OR_RETURN(const proto::JournalRow row, RowFrom(rows.key(), rows.value()));
    const StoredItem stored{
        .item = std::move(record.item), .priority = row.priority(), .times_sampled = row.uses()};
    const std::uint64_t age = now_ns_ - std::min(now_ns_, record.came_unix_ns);
    SHOAL_RETURN_IF_ERROR(table_.Restore(
        handle, stored,
        std::chrono::duration_cast<runtime::Duration>(std::chrono::nanoseconds(age))));
    const std::uint32_t reserved = ReservedUses(row.uses(), reservation_);
    const std::uint32_t most = table_.options().max_times_sampled;
    if (most > 0 && row.uses() >= most) {
      changes_.Delete(index_, handle);
    } else if (reserved != row.uses()) {
      changes_.SetRow(index_, handle, {.priority = row.priority(), .uses = reserved});
    }
    return absl::OkStatus();
  }

  Database& database_;
  Table& table_;
  const std::string name_;
  const std::size_t index_;
  Changes& changes_;
  const std::uint64_t now_ns_;
  const std::uint32_t reservation_;
  // That of the items on disk, as text.
  std::string signature_;
  RestoredTable restored_;
};

}  // namespace

std::uint64_t RestoreContents(Database& database, ContentStore& contents, Changes& changes) {
  std::uint64_t damaged = 0;
  Cursor cursor(database, Column::kContents, "C");
  for (; cursor.valid(); cursor.Next()) {
    auto content = ContentFrom(cursor.key(), cursor.value());
    const absl::Status status =
        content.ok() ? contents.Restore(cursor.number(), *std::move(content)) : content.status();
    if (status.ok()) continue;
    ReportLoss("contents", cursor.number(), status);
    changes.Evict(cursor.number());
    ++damaged;
  }
  return damaged + ReportGaps("contents", "contents", cursor);
}

absl::StatusOr<RestoredTable> RestoreTable(Database& database, Table& table, std::size_t index,
                                           Changes& changes, const runtime::Clock& clock) {
  return TableRestorer(database, table, index, changes, clock).Run();
}

}  // namespace shoal::replay::durability
