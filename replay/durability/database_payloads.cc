// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database_payloads.h"

#include <utility>

#include "platform/runtime/log.h"
#include "replay/durability/records.h"

namespace shoal::replay::durability {

DatabasePayloads::DatabasePayloads(std::shared_ptr<Database> database,
                                   std::shared_ptr<const std::vector<std::string>> tables)
    : database_(std::move(database)),
      tables_(std::move(tables)),
      snapshot_(database_->db().GetSnapshot()) {}

DatabasePayloads::~DatabasePayloads() { database_->db().ReleaseSnapshot(snapshot_); }

absl::StatusOr<std::string> DatabasePayloads::Read(std::size_t table, Handle handle) const {
  const std::string& name = (*tables_)[table];
  absl::StatusOr<std::string> payload = ReadRecord(ItemKey(name, handle));
  if (!payload.ok()) {
    spdlog::error("event=record_lost table={} key={} reason={}", runtime::Quoted(name), handle,
                  runtime::Quoted(runtime::Message(payload.status())));
  }
  return payload;
}

absl::StatusOr<std::string> DatabasePayloads::ReadRecord(const std::string& key) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot_;
  // The record has a checksum of its own over key and value, which PayloadFrom compares. RocksDB's
  // would take most of the time of a read.
  options.verify_checksums = false;
  rocksdb::PinnableSlice sealed;
  const rocksdb::Status status =
      database_->db().Get(options, database_->column(Column::kItems), key, &sealed);
  if (status.IsNotFound()) return runtime::DataLoss("the record is gone");
  if (status.IsCorruption()) return runtime::DataLoss(status.ToString());
  if (!status.ok()) return runtime::Unavailable(status.ToString());
  SHOAL_ASSIGN_OR_RETURN(const std::string_view payload,
                         PayloadFrom(key, {sealed.data(), sealed.size()}));
  return std::string(payload);
}

}  // namespace shoal::replay::durability
