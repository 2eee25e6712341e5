// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database_payloads.h"

#include <string_view>
#include <utility>

#include "replay/durability/records.h"

namespace shoal::replay::durability {
namespace {

absl::Status StatusOf(const rocksdb::Status& status) {
  if (status.IsNotFound()) return runtime::DataLoss("the record is gone");
  if (status.IsCorruption()) return runtime::DataLoss(status.ToString());
  return status.ok() ? absl::OkStatus() : runtime::Unavailable(status.ToString());
}

absl::StatusOr<std::string> PayloadOf(std::string_view key, std::string_view sealed) {
  SHOAL_ASSIGN_OR_RETURN(const std::string_view payload, PayloadFrom(key, sealed));
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
  // The record has a checksum of its own over key and value, which is compared. RocksDB's
  // would take most of the time of a read.
  options.verify_checksums = false;
  return options;
}

std::vector<absl::StatusOr<std::string>> DatabasePayloads::ReadTogether(
    Column column, const std::vector<std::string>& keys,
    absl::FunctionRef<absl::StatusOr<std::string>(std::string_view, std::string_view)> value_from)
    const {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> sealed(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size(), rocksdb::Status::Incomplete());
  rocksdb::DB& db = database_->db();
  rocksdb::ColumnFamilyHandle* const records = database_->column(column);
  if (keys.size() > 1) {
    db.MultiGet(Options(), records, keys.size(), slices.data(), sealed.data(), statuses.data());
  }
  std::vector<absl::StatusOr<std::string>> values;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // What fails for one may have failed for all that were read together.
    if (!statuses[i].ok()) {
      sealed[i].Reset();
      statuses[i] = db.Get(Options(), records, slices[i], &sealed[i]);
    }
    const absl::Status status = StatusOf(statuses[i]);
    values.push_back(status.ok() ? value_from(keys[i], {sealed[i].data(), sealed[i].size()})
                                 : absl::StatusOr<std::string>(status));
    sealed[i].Reset();
  }
  return values;
}

std::vector<absl::StatusOr<std::string>> DatabasePayloads::Read(
    std::size_t table, std::span<const Handle> handles) const {
  const std::string& name = (*tables_)[table];
  std::vector<std::string> keys;
  for (const Handle handle : handles) keys.push_back(ItemKey(name, handle));
  auto payloads = ReadTogether(Column::kItems, keys, PayloadOf);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (!payloads[i].ok()) ReportLoss(name, handles[i], payloads[i].status());
  }
  return payloads;
}

std::vector<absl::StatusOr<std::string>> DatabasePayloads::ReadChunks(
    std::span<const std::uint64_t> numbers) const {
  std::vector<std::string> keys;
  for (const std::uint64_t number : numbers) keys.push_back(ContentRecordKey(number));
  auto chunks = ReadTogether(Column::kContents, keys, ChunkDataFrom);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!chunks[i].ok()) ReportLoss("contents", numbers[i], chunks[i].status());
  }
  return chunks;
}

}  // namespace shoal::replay::durability
