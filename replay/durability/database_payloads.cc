// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database_payloads.h"

#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "replay/durability/records.h"

namespace shoal::replay::durability {
namespace {

absl::StatusOr<std::string> PayloadOf(const std::string& key, const rocksdb::Status& status,
                                      const rocksdb::Slice& sealed) {
  if (status.IsNotFound()) return runtime::DataLoss("the record is gone");
  if (status.IsCorruption()) return runtime::DataLoss(status.ToString());
  if (!status.ok()) return runtime::Unavailable(status.ToString());
  SHOAL_ASSIGN_OR_RETURN(const std::string_view payload,
                         PayloadFrom(key, {sealed.data(), sealed.size()}));
  return std::string(payload);
}

}  // namespace

DatabasePayloads::DatabasePayloads(std::shared_ptr<Database> database,
                                   std::shared_ptr<const std::vector<std::string>> tables)
    : database_(std::move(database)),
      tables_(std::move(tables)),
      snapshot_(database_->db().GetSnapshot()) {}

DatabasePayloads::~DatabasePayloads() { database_->db().ReleaseSnapshot(snapshot_); }

rocksdb::ReadOptions DatabasePayloads::Options() const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot_;
  // The record has a checksum of its own over key and value, which PayloadFrom compares. RocksDB's
  // would take most of the time of a read.
  options.verify_checksums = false;
  return options;
}

std::vector<absl::StatusOr<std::string>> DatabasePayloads::Read(
    std::size_t table, std::span<const Handle> handles) const {
  const std::string& name = (*tables_)[table];
  std::vector<std::string> keys;
  for (const Handle handle : handles) keys.push_back(ItemKey(name, handle));
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> sealed(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size(), rocksdb::Status::Incomplete());
  rocksdb::DB& db = database_->db();
  rocksdb::ColumnFamilyHandle* const items = database_->column(Column::kItems);
  if (keys.size() > 1) {
    db.MultiGet(Options(), items, keys.size(), slices.data(), sealed.data(), statuses.data());
  }
  std::vector<absl::StatusOr<std::string>> payloads;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // What fails for one may have failed for all that were read together.
    if (!statuses[i].ok()) {
      sealed[i].Reset();
      statuses[i] = db.Get(Options(), items, slices[i], &sealed[i]);
    }
    payloads.push_back(PayloadOf(keys[i], statuses[i], sealed[i]));
    sealed[i].Reset();
    if (payloads.back().ok()) continue;
    spdlog::error("event=record_lost table={} key={} reason={}", runtime::Quoted(name), handles[i],
                  runtime::Quoted(runtime::Message(payloads.back().status())));
  }
  return payloads;
}

}  // namespace shoal::replay::durability
