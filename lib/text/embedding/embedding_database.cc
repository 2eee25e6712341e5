// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_database.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace shoal::embedding {
namespace {

constexpr std::int64_t kApplication = 0x53486F61;
constexpr std::int64_t kFormat = 1;
// How long somebody's encoding may wait for another process's transaction.
constexpr int kBusyMs = 250;
// Rows that one insertion deletes beyond as many as it brings: a lowered bound is reached in steps.
constexpr std::int64_t kMaxEvicted = 4096;

// Of every SQLite file; user_version and application_id lie in it at 60 and 68.
constexpr int kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3", 16);

constexpr char kTables[] =
    "CREATE TABLE versions(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE embeddings(place INTEGER PRIMARY KEY, version INTEGER NOT NULL,"
    " key BLOB NOT NULL, hash INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE(version, key));";

std::int64_t HashOf(const content::ContentKey& key, std::string_view vector) {
  std::uint64_t seed;
  std::memcpy(&seed, key.bytes.data(), sizeof(seed));
  return static_cast<std::int64_t>(XXH3_64bits_withSeed(vector.data(), vector.size(), seed));
}

std::string_view BytesOf(std::span<const std::uint16_t> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

absl::Status CheckIsOurs(std::int64_t application, std::int64_t format) {
  if (application != kApplication) {
    return runtime::FailedPrecondition("it is a database of something else; it stays as it is");
  }
  if (format > kFormat) {
    return runtime::FailedPrecondition("its format " + std::to_string(format) + " is later than " +
                                       std::to_string(kFormat) + "; it stays as it is");
  }
  return absl::OkStatus();
}

std::int64_t BigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<std::int32_t>(value);
}

// False where there is nothing at all yet.
absl::StatusOr<bool> HasTables(SqliteConnection& connection) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t application,
                         connection.Integer("PRAGMA application_id"));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t format, connection.Integer("PRAGMA user_version"));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t objects,
                         connection.Integer("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && format == 0 && objects == 0) return false;
  SHOAL_RETURN_IF_ERROR(CheckIsOurs(application, format));
  if (format < kFormat) return runtime::DataLoss("format " + std::to_string(format) + " is old");
  return true;
}

// REQUIRES: in a transaction, so that no two make the tables.
absl::Status MakeTables(SqliteConnection& connection) {
  SHOAL_ASSIGN_OR_RETURN(const bool made, HasTables(connection));
  if (made) return absl::OkStatus();
  return connection.Execute(kTables + ("PRAGMA application_id=" + std::to_string(kApplication) +
                                       ";PRAGMA user_version=" + std::to_string(kFormat)));
}

absl::Status SetUp(SqliteConnection& connection) {
  SHOAL_ASSIGN_OR_RETURN(const bool has_tables, HasTables(connection));
  if (!has_tables) {
    SHOAL_RETURN_IF_ERROR(connection.Execute("BEGIN IMMEDIATE"));
    const absl::Status made = MakeTables(connection);
    if (!made.ok()) {
      connection.Execute("ROLLBACK").IgnoreError();
      return made;
    }
    SHOAL_RETURN_IF_ERROR(connection.Execute("COMMIT"));
  }
  return connection.Execute(
      "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA journal_size_limit=8388608");
}

}  // namespace

EmbeddingDatabase::EmbeddingDatabase(SqliteConnection connection, std::int64_t max_bytes)
    : connection_(std::move(connection)), max_bytes_(max_bytes) {}

absl::Status EmbeddingDatabase::CheckHeader(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(SqliteConnection connection, SqliteConnection::Open(path, kBusyMs));
  SHOAL_ASSIGN_OR_RETURN(const std::string header, connection.FirstBytes(kHeaderBytes));
  // Of one byte SQLite says that it is empty.
  std::error_code error;
  if (header.empty() && std::filesystem::file_size(path, error) != 1) return absl::OkStatus();
  const std::string_view bytes = header;
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return runtime::FailedPrecondition("it is no SQLite database; it stays as it is");
  }
  return CheckIsOurs(BigEndian(bytes.substr(68, 4)), BigEndian(bytes.substr(60, 4)));
}

absl::StatusOr<std::unique_ptr<EmbeddingDatabase>> EmbeddingDatabase::Open(const std::string& path,
                                                                           std::int64_t max_bytes) {
  SHOAL_ASSIGN_OR_RETURN(SqliteConnection connection, SqliteConnection::Open(path, kBusyMs));
  SHOAL_RETURN_IF_ERROR(SetUp(connection));
  std::unique_ptr<EmbeddingDatabase> database(
      new EmbeddingDatabase(std::move(connection), max_bytes));
  SHOAL_RETURN_IF_ERROR(database->Prepare());
  return database;
}

absl::Status EmbeddingDatabase::Prepare() {
  const std::pair<SqliteStatement*, const char*> statements[] = {
      {&find_version_, "SELECT id FROM versions WHERE name=?1"},
      {&insert_version_, "INSERT OR IGNORE INTO versions(name) VALUES(?1)"},
      {&find_, "SELECT hash, vector FROM embeddings WHERE version=?1 AND key=?2"},
      {&insert_,
       "INSERT OR IGNORE INTO embeddings(version, key, hash, vector) VALUES(?1, ?2, ?3, ?4)"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = connection_.Prepare(sql);
    // Ours by its numbers, yet without the tables.
    if (absl::IsInternal(prepared.status())) {
      return runtime::DataLoss(runtime::Message(prepared.status()));
    }
    SHOAL_RETURN_IF_ERROR(prepared.status());
    *statement = *std::move(prepared);
  }
  return absl::OkStatus();
}

absl::Status EmbeddingDatabase::End(const absl::Status& status) {
  for (SqliteStatement* statement : {&find_version_, &insert_version_, &find_, &insert_}) {
    statement->Reset();
  }
  const absl::Status ended = status.ok() ? connection_.Execute("COMMIT") : status;
  if (!ended.ok()) connection_.Execute("ROLLBACK").IgnoreError();
  return ended;
}

// 0 for one that is not there.
absl::StatusOr<std::int64_t> EmbeddingDatabase::VersionId(const std::string& version) {
  find_version_.Reset();
  find_version_.BindText(1, version);
  SHOAL_ASSIGN_OR_RETURN(const bool known, find_version_.Step());
  const std::int64_t id = known ? find_version_.Integer(0) : 0;
  find_version_.Reset();
  return id;
}

absl::Status EmbeddingDatabase::Find(const std::string& version, std::size_t dimension,
                                     std::span<const content::ContentKey> keys,
                                     std::span<Embedding> found) {
  SHOAL_RETURN_IF_ERROR(connection_.Execute("BEGIN"));
  return End(FindRows(version, dimension, keys, found));
}

absl::Status EmbeddingDatabase::FindRows(const std::string& version, std::size_t dimension,
                                         std::span<const content::ContentKey> keys,
                                         std::span<Embedding> found) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t id, VersionId(version));
  if (id == 0) return absl::OkStatus();
  find_.Bind(1, id);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    find_.BindBlob(2, keys[i].AsBytes());
    SHOAL_ASSIGN_OR_RETURN(const bool row, find_.Step());
    if (row) {
      const std::int64_t hash = find_.Integer(0);
      const std::string_view bytes = find_.Blob(1);
      if (HashOf(keys[i], bytes) != hash) {
        return runtime::DataLoss("the vector of " + keys[i].ToHex() + " does not match its hash");
      }
      if (bytes.size() == dimension * sizeof(std::uint16_t)) {
        std::vector<std::uint16_t> values(dimension);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        found[i] = std::make_shared<const std::vector<std::uint16_t>>(std::move(values));
      }
    }
    find_.Reset();
  }
  return absl::OkStatus();
}

absl::Status EmbeddingDatabase::Insert(const std::string& version, std::size_t dimension,
                                       std::span<const content::ContentKey> keys,
                                       std::span<const std::uint16_t> values) {
  SHOAL_RETURN_IF_ERROR(connection_.Execute("BEGIN IMMEDIATE"));
  return End(InsertRows(version, dimension, keys, values));
}

absl::Status EmbeddingDatabase::InsertRows(const std::string& version, std::size_t dimension,
                                           std::span<const content::ContentKey> keys,
                                           std::span<const std::uint16_t> values) {
  insert_version_.BindText(1, version);
  SHOAL_RETURN_IF_ERROR(insert_version_.Step().status());
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t id, VersionId(version));
  insert_.Bind(1, id);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view vector = BytesOf(values.subspan(i * dimension, dimension));
    insert_.BindBlob(2, keys[i].AsBytes());
    insert_.Bind(3, HashOf(keys[i], vector));
    insert_.BindBlob(4, vector);
    SHOAL_RETURN_IF_ERROR(insert_.Step().status());
    insert_.Reset();
  }
  return EvictOldest(kMaxEvicted + static_cast<std::int64_t>(keys.size()));
}

absl::Status EmbeddingDatabase::EvictOldest(std::int64_t max_rows) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t page_bytes, connection_.Integer("PRAGMA page_size"));
  while (max_rows > 0) {
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t pages, connection_.Integer("PRAGMA page_count"));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t unused, connection_.Integer("PRAGMA freelist_count"));
    const std::int64_t used = (pages - unused) * page_bytes;
    if (used <= max_bytes_) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t first,
                           connection_.Integer("SELECT min(place) FROM embeddings"));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t last,
                           connection_.Integer("SELECT max(place) FROM embeddings"));
    if (last == 0) return absl::OkStatus();
    // A sixteenth below the bound, so that not every insertion comes here.
    const std::int64_t target = max_bytes_ - max_bytes_ / 16;
    const double share = static_cast<double>(used - target) / static_cast<double>(used);
    const auto surplus = static_cast<std::int64_t>(static_cast<double>(last - first + 1) * share);
    const std::int64_t leaving = std::min(surplus + 1, max_rows);
    SHOAL_RETURN_IF_ERROR(connection_.Execute("DELETE FROM embeddings WHERE place<" +
                                              std::to_string(first + leaving)));
    max_rows -= leaving;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> EmbeddingDatabase::rows() {
  return connection_.Integer("SELECT count(*) FROM embeddings");
}

}  // namespace shoal::embedding
