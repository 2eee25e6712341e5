// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/sqlite_connection.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace shoal::embedding {
namespace {

absl::Status SqliteStatus(int code, std::string message) {
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return runtime::DataLoss(std::move(message));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return runtime::Unavailable(std::move(message));
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return runtime::ResourceExhausted(std::move(message));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return runtime::FailedPrecondition(std::move(message));
    default:
      return runtime::Internal(std::move(message));
  }
}

std::string MessageOf(sqlite3* connection, int code) {
  return connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::Note(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

void SqliteStatement::Bind(int place, std::int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), place, value));
}

void SqliteStatement::BindText(int place, std::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
}

void SqliteStatement::BindBlob(int place, std::string_view bytes) {
  Note(sqlite3_bind_blob64(statement_.get(), place, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

absl::StatusOr<bool> SqliteStatement::Step() {
  int code = std::exchange(bind_code_, SQLITE_OK);
  if (code == SQLITE_OK) code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqliteStatus(code, MessageOf(sqlite3_db_handle(statement_.get()), code));
}

std::int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqliteStatement::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void SqliteStatement::Reset() { sqlite3_reset(statement_.get()); }

void SqliteConnection::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

absl::Status SqliteConnection::StatusOf(int code) const {
  if (code == SQLITE_OK) return absl::OkStatus();
  return SqliteStatus(code, MessageOf(connection_.get(), code));
}

absl::StatusOr<SqliteConnection> SqliteConnection::Open(const std::string& path, int busy_ms) {
  SqliteConnection connection;
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  connection.connection_.reset(opened);
  SHOAL_RETURN_IF_ERROR(connection.StatusOf(code));
  if (sqlite3_db_readonly(opened, "main") == 1) {
    return runtime::FailedPrecondition("it cannot be written");
  }
  SHOAL_RETURN_IF_ERROR(connection.StatusOf(sqlite3_busy_timeout(opened, busy_ms)));
  return connection;
}

absl::StatusOr<SqliteStatement> SqliteConnection::Prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  SqliteStatement statement;
  statement.statement_.reset(made);
  SHOAL_RETURN_IF_ERROR(StatusOf(code));
  return statement;
}

absl::Status SqliteConnection::Execute(const std::string& sql) {
  return StatusOf(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

// Through SQLite's own descriptor: to close another one of the file would drop the process's locks.
absl::StatusOr<std::string> SqliteConnection::FirstBytes(int bytes) {
  sqlite3_file* file = nullptr;
  SHOAL_RETURN_IF_ERROR(
      StatusOf(sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file)));
  sqlite3_int64 size = 0;
  SHOAL_RETURN_IF_ERROR(StatusOf(file->pMethods->xFileSize(file, &size)));
  const auto there = static_cast<int>(std::min<sqlite3_int64>(size, bytes));
  std::string read(static_cast<std::size_t>(there), '\0');
  SHOAL_RETURN_IF_ERROR(StatusOf(file->pMethods->xRead(file, read.data(), there, 0)));
  return read;
}

absl::StatusOr<std::int64_t> SqliteConnection::Integer(std::string_view sql) {
  SHOAL_ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  SHOAL_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Integer(0) : 0;
}

}  // namespace shoal::embedding
