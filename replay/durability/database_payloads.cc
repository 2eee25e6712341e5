// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database_payloads.h"

#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "replay/durability/records.h"

namespace shoal::replay::durability {
namespace {

absl::Status StatusOf(const rocksdb::Status& status) {
  if (status.IsNotFound()) return runtime::DataLoss("the record is gone");
  if (status.IsCorruption()) return runtime::DataLoss(status.ToString());
  return status.ok() ? absl::OkStatus() : runtime::Unavailable(status.ToString());
}

absl::StatusOr<std::string> PayloadOf(const std::string& key, const rocksdb::Status& status,
                                      const rocksdb::Slice& sealed) {
  SHOAL_RETURN_IF_ERROR(StatusOf(status));
  SHOAL_ASSIGN_OR_RETURN(const std::string_view payload,
                         PayloadFrom(key, {sealed.data(), sealed.size()}));
  return std::string(payload);
}

absl::StatusOr<std::string> ChunkOf(const std::string& key, const rocksdb::Status& status,
                                    const rocksdb::Slice& sealed) {
  SHOAL_RETURN_IF_ERROR(StatusOf(status));
  SHOAL_ASSIGN_OR_RETURN(Content content, ContentFrom(key, {sealed.data(), sealed.size()}));
  auto* const chunk = std::get_if<Chunk>(&content.body);
  if (chunk == nullptr) return runtime::DataLoss("the record is no chunk");
  return std::move(chunk->data);
}

void ReportLoss(std::string_view table, std::uint64_t key, const absl::Status& status) {
  spdlog::error("event=record_lost table={} key={} reason={}", runtime::Quoted(table), key,
                runtime::Quoted(runtime::Message(status)));
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
    if (!payloads.back().ok()) ReportLoss(name, handles[i], payloads.back().status());
  }
  return payloads;
}

absl::StatusOr<std::string> DatabasePayloads::ReadChunk(std::uint64_t number) const {
  const std::string key = ContentRecordKey(number);
  rocksdb::PinnableSlice sealed;
  const rocksdb::Status status =
      database_->db().Get(Options(), database_->column(Column::kContents), key, &sealed);
  absl::StatusOr<std::string> data = ChunkOf(key, status, sealed);
  if (!data.ok()) ReportLoss("contents", number, data.status());
  return data;
}

}  // namespace shoal::replay::durability
