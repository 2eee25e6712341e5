// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_file.h"

#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/log.h"

namespace shoal::embedding {
namespace {

namespace fs = std::filesystem;
using content::ContentKey;

constexpr std::int64_t kMinimumBytes = std::int64_t{64} << 10;
// The application_id of Shoal's files, and the user_version of this format.
constexpr std::int64_t kApplication = 1397256033;
constexpr std::int64_t kFormat = 1;
// How long an encoder may wait for another process's transaction.
constexpr int kBusyMs = 250;
// The time after a failure in which no insertion is tried.
constexpr std::chrono::seconds kPause{10};

// The number of rows that one insertion may delete in addition to the number that it adds.
constexpr std::int64_t kMaxEvicted = 4096;

// `place` ascends in the order of writing. `hash` is XXH3 of the vector, seeded with its key.
constexpr char kTables[] =
    "CREATE TABLE versions(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE embeddings(place INTEGER PRIMARY KEY, version INTEGER NOT NULL,"
    " key BLOB NOT NULL, hash INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE(version, key));"
    "PRAGMA application_id=1397256033;PRAGMA user_version=1;";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// UNAVAILABLE and RESOURCE_EXHAUSTED may be temporary; any other error makes the file unusable.
absl::Status StatusOf(sqlite3* connection, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return absl::OkStatus();
  std::string message = connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return runtime::Unavailable(std::move(message));
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
      return runtime::ResourceExhausted(std::move(message));
    default:
      return runtime::DataLoss(std::move(message));
  }
}

absl::Status Execute(sqlite3* connection, const std::string& sql) {
  return StatusOf(connection, sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr));
}

absl::StatusOr<Statement> Prepare(sqlite3* connection, const char* sql) {
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v2(connection, sql, -1, &made, nullptr);
  Statement statement(made);
  SHOAL_RETURN_IF_ERROR(StatusOf(connection, code));
  return statement;
}

// Returns the first column of the first row, or 0 without a row.
absl::StatusOr<std::int64_t> Integer(sqlite3* connection, const char* sql) {
  SHOAL_ASSIGN_OR_RETURN(const Statement statement, Prepare(connection, sql));
  const int code = sqlite3_step(statement.get());
  SHOAL_RETURN_IF_ERROR(StatusOf(connection, code));
  return code == SQLITE_ROW ? sqlite3_column_int64(statement.get(), 0) : 0;
}

// Binds bytes, which must stay unchanged until the statement has been stepped.
void BindBytes(sqlite3_stmt* statement, int place, std::string_view bytes) {
  sqlite3_bind_blob64(statement, place, bytes.data(), bytes.size(), SQLITE_STATIC);
}

void BindText(sqlite3_stmt* statement, int place, std::string_view text) {
  sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::int64_t HashOf(const ContentKey& key, std::string_view vector) {
  std::uint64_t seed;
  std::memcpy(&seed, key.bytes.data(), sizeof(seed));
  return static_cast<std::int64_t>(XXH3_64bits_withSeed(vector.data(), vector.size(), seed));
}

// Creates the tables in an empty file, and checks any other file. REQUIRES: in a transaction.
absl::Status MakeTables(sqlite3* connection) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t application,
                         Integer(connection, "PRAGMA application_id"));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t format, Integer(connection, "PRAGMA user_version"));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t objects,
                         Integer(connection, "SELECT count(*) FROM sqlite_master"));
  if (application == 0 && format == 0 && objects == 0) return Execute(connection, kTables);
  if (application != kApplication) return runtime::DataLoss("it is a database of something else");
  if (format == kFormat) return absl::OkStatus();
  return runtime::DataLoss("it is of format " + std::to_string(format) + ", not " +
                           std::to_string(kFormat));
}

// Runs `work` between BEGIN and COMMIT; rolls back when it fails.
template <typename Work>
absl::Status InTransaction(sqlite3* connection, const Work& work) {
  SHOAL_RETURN_IF_ERROR(Execute(connection, "BEGIN IMMEDIATE"));
  absl::Status status = work();
  if (status.ok()) status = Execute(connection, "COMMIT");
  if (!status.ok()) Execute(connection, "ROLLBACK").IgnoreError();
  return status;
}

absl::Status FindRows(sqlite3* connection, const std::string& version, std::size_t dimension,
                      std::span<const ContentKey> keys, std::span<Embedding> found) {
  SHOAL_ASSIGN_OR_RETURN(const Statement statement,
                         Prepare(connection,
                                 "SELECT hash, vector FROM embeddings WHERE key=?2 AND"
                                 " version=(SELECT id FROM versions WHERE name=?1)"));
  BindText(statement.get(), 1, version);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    BindBytes(statement.get(), 2, keys[i].AsBytes());
    const int code = sqlite3_step(statement.get());
    SHOAL_RETURN_IF_ERROR(StatusOf(connection, code));
    if (code == SQLITE_ROW) {
      const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement.get(), 1));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 1));
      if (HashOf(keys[i], {bytes, size}) != sqlite3_column_int64(statement.get(), 0)) {
        return runtime::DataLoss("the vector of " + keys[i].ToHex() + " does not match its hash");
      }
      if (size == dimension * sizeof(std::uint16_t)) {
        std::vector<std::uint16_t> values(dimension);
        std::memcpy(values.data(), bytes, size);
        found[i] = std::make_shared<const std::vector<std::uint16_t>>(std::move(values));
      }
    }
    sqlite3_reset(statement.get());
  }
  return absl::OkStatus();
}

absl::Status InsertRows(sqlite3* connection, const std::string& version, std::size_t dimension,
                        std::span<const ContentKey> keys, std::span<const std::uint16_t> values) {
  SHOAL_ASSIGN_OR_RETURN(const Statement name,
                         Prepare(connection, "INSERT OR IGNORE INTO versions(name) VALUES(?1)"));
  BindText(name.get(), 1, version);
  SHOAL_RETURN_IF_ERROR(StatusOf(connection, sqlite3_step(name.get())));
  SHOAL_ASSIGN_OR_RETURN(const Statement row,
                         Prepare(connection,
                                 "INSERT OR IGNORE INTO embeddings(version, key, hash, vector)"
                                 " VALUES((SELECT id FROM versions WHERE name=?1), ?2, ?3, ?4)"));
  BindText(row.get(), 1, version);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto numbers = values.subspan(i * dimension, dimension);
    const std::string_view vector(reinterpret_cast<const char*>(numbers.data()),
                                  numbers.size_bytes());
    BindBytes(row.get(), 2, keys[i].AsBytes());
    sqlite3_bind_int64(row.get(), 3, HashOf(keys[i], vector));
    BindBytes(row.get(), 4, vector);
    SHOAL_RETURN_IF_ERROR(StatusOf(connection, sqlite3_step(row.get())));
    sqlite3_reset(row.get());
  }
  return absl::OkStatus();
}

// When the limit is exceeded, deletes the oldest rows until a sixteenth of it is free, but at most
// `most` rows, so that a lowered limit is reached in steps.
absl::Status EvictOldest(sqlite3* connection, std::int64_t max_bytes, std::int64_t most) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t page_bytes, Integer(connection, "PRAGMA page_size"));
  while (most > 0) {
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t pages, Integer(connection, "PRAGMA page_count"));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t unused, Integer(connection, "PRAGMA freelist_count"));
    const std::int64_t used = (pages - unused) * page_bytes;
    if (used <= max_bytes) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t rows,
                           Integer(connection, "SELECT count(*) FROM embeddings"));
    if (rows == 0) return absl::OkStatus();
    const double surplus =
        1 - static_cast<double>(max_bytes - max_bytes / 16) / static_cast<double>(used);
    const std::int64_t leaving =
        std::min(most, static_cast<std::int64_t>(surplus * static_cast<double>(rows)) + 1);
    SHOAL_RETURN_IF_ERROR(Execute(connection,
                                  "DELETE FROM embeddings WHERE place IN (SELECT place FROM"
                                  " embeddings ORDER BY place LIMIT " +
                                      std::to_string(leaving) + ")"));
    most -= leaving;
  }
  return absl::OkStatus();
}

}  // namespace

void EmbeddingFile::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

EmbeddingFile::EmbeddingFile(const EmbeddingFileOptions& options, runtime::Metrics* metrics,
                             const runtime::Clock& clock)
    : options_(options),
      clock_(clock),
      found_total_(metrics, "shoal_embedding_file_found_total", "Vectors found in the file"),
      missing_total_(metrics, "shoal_embedding_file_missing_total",
                     "Vectors that the file did not have"),
      inserted_total_(metrics, "shoal_embedding_file_inserted_total", "Vectors given to the file"),
      failures_total_(metrics, "shoal_embedding_file_failures_total",
                      "Reads and writes of the file of vectors that failed") {}

absl::StatusOr<std::unique_ptr<EmbeddingFile>> EmbeddingFile::Open(
    const EmbeddingFileOptions& options, runtime::Metrics* metrics, const runtime::Clock& clock) {
  if (options.path.empty()) return runtime::InvalidArgument("the path is empty");
  if (options.max_bytes < kMinimumBytes) {
    return runtime::InvalidArgument(options.path + ": " + std::to_string(options.max_bytes) +
                                    " bytes are less than " + std::to_string(kMinimumBytes));
  }
  const fs::path folder = fs::path(options.path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return runtime::FailedPrecondition(folder.string() + ": " + error.message());
  if (fs::exists(options.path, error) && !fs::is_regular_file(options.path, error)) {
    return runtime::FailedPrecondition(options.path + " is no plain file");
  }
  std::unique_ptr<EmbeddingFile> file(new EmbeddingFile(options, metrics, clock));
  const runtime::MutexLock lock(file->mutex_);
  const absl::Status opened = file->Connect();
  if (!opened.ok()) file->Fail(opened);
  return file;
}

absl::Status EmbeddingFile::Connect() {
  if (connection_ != nullptr) return absl::OkStatus();
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(options_.path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<sqlite3, Close> connection(opened);
  SHOAL_RETURN_IF_ERROR(StatusOf(opened, code));
  SHOAL_RETURN_IF_ERROR(StatusOf(opened, sqlite3_busy_timeout(opened, kBusyMs)));
  SHOAL_RETURN_IF_ERROR(InTransaction(opened, [opened] { return MakeTables(opened); }));
  SHOAL_RETURN_IF_ERROR(Execute(opened,
                                "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                                "PRAGMA journal_size_limit=8388608"));
  connection_ = std::move(connection);
  return absl::OkStatus();
}

std::vector<Embedding> EmbeddingFile::Find(const std::string& version, std::size_t dimension,
                                           std::span<const ContentKey> keys) {
  std::vector<Embedding> found(keys.size());
  const runtime::MutexLock lock(mutex_);
  if (connection_ != nullptr) {
    const absl::Status read = FindRows(connection_.get(), version, dimension, keys, found);
    if (!read.ok()) Fail(read);
  }
  const auto missing = static_cast<std::size_t>(std::count(found.begin(), found.end(), nullptr));
  found_total_.Add(keys.size() - missing);
  missing_total_.Add(missing);
  return found;
}

void EmbeddingFile::Insert(const std::string& version, std::size_t dimension,
                           std::span<const ContentKey> keys,
                           std::span<const std::uint16_t> values) {
  SHOAL_CHECK(dimension > 0 && values.size() == keys.size() * dimension);
  if (keys.empty()) return;
  const runtime::MutexLock lock(mutex_);
  if (broken_ || clock_.Now() < pause_until_) return CountFailure();
  absl::Status written = Connect();
  if (written.ok()) {
    sqlite3* const connection = connection_.get();
    written = InTransaction(connection, [&] {
      SHOAL_RETURN_IF_ERROR(InsertRows(connection, version, dimension, keys, values));
      return EvictOldest(connection, options_.max_bytes,
                         kMaxEvicted + static_cast<std::int64_t>(keys.size()));
    });
  }
  if (!written.ok()) return Fail(written);
  inserted_total_.Add(keys.size());
}

void EmbeddingFile::CountFailure() {
  ++failures_;
  failures_total_.Add(1);
}

void EmbeddingFile::Fail(const absl::Status& status) {
  CountFailure();
  pause_until_ = clock_.Now() + kPause;
  const bool passes = absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
  if (!passes) {
    broken_ = true;
    connection_.reset();
  }
  if (std::exchange(passes ? warned_of_pause_ : warned_of_damage_, true)) return;
  spdlog::warn("event=embedding_file_failed file={} reason={} next={}",
               runtime::Quoted(options_.path), runtime::Quoted(runtime::Message(status)),
               passes ? "tried_again_later" : "goes_on_without_it");
}

std::uint64_t EmbeddingFile::failures() const {
  const runtime::MutexLock lock(mutex_);
  return failures_;
}

std::uint64_t EmbeddingFile::rows() {
  const runtime::MutexLock lock(mutex_);
  if (connection_ == nullptr) return 0;
  const auto rows = Integer(connection_.get(), "SELECT count(*) FROM embeddings");
  return rows.ok() ? static_cast<std::uint64_t>(*rows) : 0;
}

}  // namespace shoal::embedding
