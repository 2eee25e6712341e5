// SPDX-License-Identifier: Apache-2.0
// A connection to an SQLite file and its statements, with SQLite's codes as absl::Status.
//
// DATA_LOSS: the file is damaged or is no database. UNAVAILABLE: another connection has it locked
// for longer than was waited. RESOURCE_EXHAUSTED: the disk or memory is full. FAILED_PRECONDITION:
// it cannot be opened or written. INTERNAL: all else. Messages are SQLite's. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace shoal::embedding {

// Used as: Bind..., Step until false, Reset. A connection outlives its statements.
class SqliteStatement {
 public:
  // Places count from 1. What is bound is copied and stays bound over Reset. A failure to bind
  // comes out of Step.
  void Bind(int place, std::int64_t value);
  void BindText(int place, std::string_view text);
  void BindBlob(int place, std::string_view bytes);

  // Whether there is a row.
  absl::StatusOr<bool> Step();
  // Of the row, columns from 0. The bytes are there until the next Step or Reset.
  std::int64_t Integer(int column) const;
  std::string_view Blob(int column) const;
  void Reset();

 private:
  friend class SqliteConnection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void Note(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  // The first failure to bind, since the last Step.
  int bind_code_ = 0;
};

class SqliteConnection {
 public:
  // Makes the file where there is none. Waits for locks for `busy_ms`.
  static absl::StatusOr<SqliteConnection> Open(const std::string& path, int busy_ms);

  absl::StatusOr<SqliteStatement> Prepare(std::string_view sql);
  // One or several statements, whose rows are passed over.
  absl::Status Execute(const std::string& sql);
  // The file's first bytes as they are, without its log: `bytes`, or fewer where it ends.
  absl::StatusOr<std::string> FirstBytes(int bytes);
  // The first column of the first row of a query that has one.
  absl::StatusOr<std::int64_t> Integer(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  absl::Status StatusOf(int code) const;

  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace shoal::embedding
