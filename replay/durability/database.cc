// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/runtime/log.h"
#include "replay/durability/payload_files.h"
#include "replay/durability/records.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{16} << 20;
constexpr std::size_t kBlockCacheBytes = std::size_t{16} << 20;
constexpr std::size_t kLogBytes = std::size_t{256} << 20;
constexpr std::size_t kBlobFileBytes = std::size_t{64} << 20;
// A smaller value lies beside its key.
constexpr std::size_t kBlobBytes = 1024;

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class WarningLog final : public rocksdb::Logger {
 public:
  WarningLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    spdlog::warn("event=rocksdb says={}", runtime::Quoted(line));
  }
};

rocksdb::ColumnFamilyOptions ColumnOptions(Column column,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  // Each record has a block with a checksum of its own, so that a flipped bit costs one record.
  table.block_size = 1;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.enable_blob_files = column != Column::kState;
  options.min_blob_size = kBlobBytes;
  options.blob_file_size = kBlobFileBytes;
  // While this is on, every compaction writes what is used in the oldest files anew, garbage beside
  // it or not. So Database::CollectGarbage has it on only while that is worth it.
  options.enable_blob_garbage_collection = false;
  options.blob_garbage_collection_age_cutoff = 0.25;
  options.blob_garbage_collection_force_threshold = 0.5;
  return options;
}

// RocksDB counts a file of large values once, and it is open twice. Half of what the process may
// open is left to others than its databases.
int MostOpenFiles(std::size_t databases) {
  constexpr rlim_t kMost = 1 << 20;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min(limit.rlim_cur / 4 / databases, kMost));
}

absl::Status StatusOf(const rocksdb::Status& status, const std::string& directory) {
  if (status.ok()) return absl::OkStatus();
  const std::string what = directory + ": " + status.ToString();
  if (status.IsNoSpace()) return runtime::ResourceExhausted(what);
  if (status.IsCorruption()) return runtime::DataLoss(what);
  return runtime::Unavailable(what);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& directory,
                                                         rocksdb::Env* env, std::size_t databases) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) return runtime::FailedPrecondition(directory + ": " + failure.message());
  std::unique_ptr<Database> database(new Database(directory));
  rocksdb::DBOptions options;
  database->env_ = WithDirectPayloads(env);
  options.env = database->env_.get();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log = std::make_shared<WarningLog>();
  // A damaged record of the log costs what it says, not all that came after it.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  options.paranoid_checks = false;
  options.max_total_wal_size = kLogBytes;
  options.keep_log_file_num = 1;
  options.max_open_files = MostOpenFiles(databases);
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {
      {rocksdb::kDefaultColumnFamilyName, ColumnOptions(Column::kState, cache)},
      {"items", ColumnOptions(Column::kItems, cache)},
      {"contents", ColumnOptions(Column::kContents, cache)}};
  std::vector<rocksdb::ColumnFamilyHandle*> columns;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, directory, descriptors, &columns, &db);
  if (!status.ok()) {
    const absl::Status reason = StatusOf(status, directory);
    return absl::IsUnavailable(reason) ? runtime::FailedPrecondition(runtime::Message(reason))
                                       : reason;
  }
  database->db_.reset(db);
  for (std::size_t i = 0; i < columns.size(); ++i) database->columns_[i] = columns[i];
  return database;
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* const column : columns_) {
    if (column != nullptr) db_->DestroyColumnFamilyHandle(column);
  }
}

absl::Status Database::Write(rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions options;
  options.sync = true;
  SHOAL_RETURN_IF_ERROR(StatusOf(db_->Write(options, &batch), directory_));
  written_bytes_ += batch.GetDataSize();
  if (written_bytes_ >= kBlobFileBytes) CollectGarbage();
  return absl::OkStatus();
}

void Database::CollectGarbage() {
  written_bytes_ = 0;
  for (const Column column : {Column::kItems, Column::kContents}) {
    rocksdb::ColumnFamilyHandle* const handle = this->column(column);
    std::uint64_t total = 0;
    std::uint64_t garbage = 0;
    if (!db_->GetIntProperty(handle, rocksdb::DB::Properties::kLiveBlobFileSize, &total) ||
        !db_->GetIntProperty(handle, rocksdb::DB::Properties::kLiveBlobFileGarbageSize, &garbage)) {
      continue;
    }
    bool& collects = collects_[static_cast<std::size_t>(column)];
    const bool worth_it = garbage > (collects ? total / 4 : total / 2);
    if (worth_it == collects) continue;
    const rocksdb::Status status =
        db_->SetOptions(handle, {{"enable_blob_garbage_collection", worth_it ? "true" : "false"}});
    if (status.ok()) collects = worth_it;
  }
}

std::string Database::StateOf(std::string_view key) {
  std::string sealed;
  const std::string name(key);
  const auto status = db_->Get(rocksdb::ReadOptions(), column(Column::kState), name, &sealed);
  const auto value = Unseal(key, sealed);
  return status.ok() && value.ok() ? std::string(*value) : "";
}

absl::Status Database::KeepItemsOf(const std::set<std::string>& tables) {
  const std::unique_ptr<rocksdb::Iterator> iterator(
      db_->NewIterator(rocksdb::ReadOptions(), column(Column::kItems)));
  bool deleted = false;
  for (iterator->SeekToFirst(); iterator->Valid();) {
    const std::string_view key = View(iterator->key());
    const std::string name(key.substr(1, key.find('\0') - 1));
    const std::string begin = Prefix('I', name);
    std::string end = begin;
    end.back() = '\1';
    if (!tables.contains(name)) {
      SHOAL_RETURN_IF_ERROR(DeleteRange(Column::kItems, begin, end));
      deleted = true;
    }
    iterator->Seek(end);
  }
  return deleted ? Compact(Column::kItems) : absl::OkStatus();
}

absl::Status Database::DeleteContents() {
  const std::unique_ptr<rocksdb::Iterator> iterator(
      db_->NewIterator(rocksdb::ReadOptions(), column(Column::kContents)));
  iterator->SeekToFirst();
  if (!iterator->Valid()) return StatusOf(iterator->status(), directory_);
  const std::string begin = ContentRecordKey(0);
  const std::string end(1, static_cast<char>(begin.front() + 1));
  SHOAL_RETURN_IF_ERROR(DeleteRange(Column::kContents, begin, end));
  return Compact(Column::kContents);
}

absl::Status Database::DeleteRange(Column column, const std::string& begin,
                                   const std::string& end) {
  return StatusOf(db_->DeleteRange(rocksdb::WriteOptions(), this->column(column), begin, end),
                  directory_);
}

absl::Status Database::Compact(Column column) {
  return StatusOf(
      db_->CompactRange(rocksdb::CompactRangeOptions(), this->column(column), nullptr, nullptr),
      directory_);
}

absl::Status Database::Checkpoint(const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), failure);
  if (failure) return runtime::Unavailable(directory + ": " + failure.message());
  if (std::filesystem::exists(directory, failure)) {
    return runtime::FailedPrecondition(directory + " is there already");
  }
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory);
  return StatusOf(status, directory);
}

absl::Status CopyCheckpoint(const std::string& from, const std::string& directory) {
  namespace fs = std::filesystem;
  const std::string partial = directory + ".partial";
  std::error_code failure;
  fs::remove_all(partial, failure);
  if (!failure) fs::create_directories(partial, failure);
  for (fs::directory_iterator entry(from, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const fs::path to = fs::path(partial) / entry->path().filename();
    const fs::path kind = entry->path().extension();
    std::error_code no_link = std::make_error_code(std::errc::not_supported);
    if (kind == ".sst" || kind == ".blob") fs::create_hard_link(entry->path(), to, no_link);
    if (no_link) fs::copy_file(entry->path(), to, failure);
    if (failure) break;
  }
  if (!failure) fs::rename(partial, directory, failure);
  if (!failure) return absl::OkStatus();
  return runtime::FailedPrecondition(from + " cannot be copied to " + directory + ": " +
                                     failure.message());
}

Cursor::Cursor(Database& database, Column column, std::string prefix)
    : prefix_(std::move(prefix)), iterator_([&] {
        rocksdb::ReadOptions options;
        options.fill_cache = false;
        return database.db().NewIterator(options, database.column(column));
      }()) {
  iterator_->Seek(prefix_);
  Settle();
}

void Cursor::SeekTo(std::uint64_t number) { iterator_->Seek(Numbered(prefix_, number)); }

bool Cursor::Readable() const { return iterator_->Valid() || iterator_->status().ok(); }

void Cursor::SkipGap() {
  gaps_.push_back(next_);
  // What lies at `bad` cannot be read. First a number is found behind which it goes on, then the
  // least one.
  std::uint64_t bad = next_;
  std::uint64_t good = next_;
  for (std::uint64_t step = 1; !Readable(); step *= 2) {
    if (step == 0 || std::numeric_limits<std::uint64_t>::max() - next_ < step) return;
    bad = good;
    good = next_ + step;
    SeekTo(good);
  }
  while (good - bad > 1) {
    const std::uint64_t middle = bad + (good - bad) / 2;
    SeekTo(middle);
    (Readable() ? good : bad) = middle;
  }
  SeekTo(good);
}

void Cursor::Settle() {
  if (!Readable()) SkipGap();
  valid_ = iterator_->Valid() && View(iterator_->key()).starts_with(prefix_);
  if (valid_) next_ = number() + 1;
}

std::string_view Cursor::key() const { return View(iterator_->key()); }
std::uint64_t Cursor::number() const { return NumberOf(key()); }
std::string_view Cursor::value() const { return View(iterator_->value()); }

void Cursor::Next() {
  iterator_->Next();
  Settle();
}

}  // namespace shoal::replay::durability
