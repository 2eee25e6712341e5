// SPDX-License-Identifier: Apache-2.0
// A database is the RocksDB of one shard: its three columns, and what RocksDB says as absl::Status.
//
// Thread-safe, except that one thread at a time may write, and that nothing may be in use when it
// is destroyed, which releases the directory's lock. RocksDB's own warnings go to the process's
// log.
//
// Garbage: a file of large values is deleted once nothing in it is used. Values in files that are
// partly used are written anew only while half of a column's large values are garbage, and until a
// quarter is. So a large value is written anew at most about once for each one that is written.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::replay::durability {

enum class Column : std::uint8_t {
  // Small records, and many of them.
  kState,
  // Large values lie in files of their own, so that RocksDB does not write them again and again.
  kItems,
  kContents,
};

class Database {
 public:
  // Opens the database in `directory`, or makes one. Of `env`, which tests replace and which must
  // outlive the database, only the file system is used. The process has `databases` of them, which
  // together take at most half of the descriptors that it may have for RocksDB's files.
  //   FAILED_PRECONDITION  another process has it open, or it cannot be read or written.
  //   RESOURCE_EXHAUSTED   the disk is full.
  //   DATA_LOSS            a file that everything else needs is damaged.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& directory,
                                                        rocksdb::Env* env,
                                                        std::size_t databases = 1);
  ~Database();

  // Writes all of `batch` or nothing, and returns when the disk has it.
  //   RESOURCE_EXHAUSTED  the disk is full.
  //   UNAVAILABLE         the disk failed. Open the database anew before the next call.
  absl::Status Write(rocksdb::WriteBatch& batch);

  // Returns the value of a small record, or an empty string if there is none or it is damaged.
  std::string StateOf(std::string_view key);
  // Deletes all items of tables that are not among `tables`, and gives their disk space back.
  absl::Status KeepItemsOf(const std::set<std::string>& tables);
  // Deletes all contents, and gives their disk space back.
  absl::Status DeleteContents();
  // Makes `directory` a copy of the database as it is now, for the most part by hard links, while
  // writes go on. `directory` must not exist.
  absl::Status Checkpoint(const std::string& directory);

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* column(Column column) const {
    return columns_[static_cast<std::size_t>(column)];
  }

 private:
  explicit Database(std::string directory) : directory_(std::move(directory)) {}

  // Deletes the records from `begin` to before `end`, whose disk space Compact gives back.
  absl::Status DeleteRange(Column column, const std::string& begin, const std::string& end);
  absl::Status Compact(Column column);
  // Has RocksDB write values anew where too many are garbage, and only there.
  void CollectGarbage();

  const std::string directory_;
  // The bytes that were written since CollectGarbage was called.
  std::size_t written_bytes_ = 0;
  // What `db_` sees of the system.
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  // Owned by this object and given back to `db_` before it is closed.
  std::array<rocksdb::ColumnFamilyHandle*, 3> columns_{};
  // Whether RocksDB writes values of a column anew.
  std::array<bool, 3> collects_{};
};

// Copies the checkpoint in `from` to `directory`, which must not exist, whole or not at all. Files
// that RocksDB never changes are linked where the file system can.
absl::Status CopyCheckpoint(const std::string& from, const std::string& directory);

// A cursor reads the records of a column whose keys begin with `prefix` and end with a number, in
// order. Where RocksDB cannot read a part of a file, the cursor goes on behind it and notes a gap.
class Cursor {
 public:
  // `database` must outlive the cursor.
  Cursor(Database& database, Column column, std::string prefix);

  bool valid() const { return valid_; }
  std::string_view key() const;
  std::uint64_t number() const;
  std::string_view value() const;
  void Next();
  // The least number that each gap may have had.
  const std::vector<std::uint64_t>& gaps() const { return gaps_; }

 private:
  // Sets `valid_`, and goes on behind what cannot be read.
  void Settle();
  // Goes to the first record behind one that cannot be read, by some dozens of seeks.
  void SkipGap();
  // Goes to the first record from this number on.
  void SeekTo(std::uint64_t number);
  // Returns false where the iterator stands at what cannot be read.
  bool Readable() const;

  const std::string prefix_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  // The least number that may come next.
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> gaps_;
  bool valid_ = false;
};

}  // namespace shoal::replay::durability
