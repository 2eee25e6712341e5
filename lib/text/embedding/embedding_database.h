// SPDX-License-Identifier: Apache-2.0
// The tables of an EmbeddingFile while it is open: what is in the file, and every failure said.
//
// Format 1: application_id 0x53486F61, user_version 1; versions(id, name), and
// embeddings(place, version, key, hash, vector), where places ascend in the order of writing and
// `hash` is XXH3 of the vector, seeded with the key's first 8 bytes. Statuses are those of
// sqlite_connection.h; DATA_LOSS also for an older format, for missing tables, and for a vector
// that does not match its hash. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "text/embedding/embedding.h"
#include "text/embedding/sqlite_connection.h"

namespace shoal::embedding {

class EmbeddingDatabase {
 public:
  // By the file's header alone, which is not written: OK for a file of this or an older format, and
  // for an empty one, which is made where there is none. FAILED_PRECONDITION: it is something
  // else's, or of a later format.
  static absl::Status CheckHeader(const std::string& path);
  // Makes the tables in an empty file. FAILED_PRECONDITION as CheckHeader; its folder exists.
  static absl::StatusOr<std::unique_ptr<EmbeddingDatabase>> Open(const std::string& path,
                                                                 std::int64_t max_bytes);

  // Puts what is there into `found`, a place a key, and leaves the rest null.
  absl::Status Find(const std::string& version, std::size_t dimension,
                    std::span<const content::ContentKey> keys, std::span<Embedding> found);
  // All or nothing; old rows leave for them, so many and 4096 more at most. REQUIRES: as
  // EmbeddingFile::Insert.
  absl::Status Insert(const std::string& version, std::size_t dimension,
                      std::span<const content::ContentKey> keys,
                      std::span<const std::uint16_t> values);
  absl::StatusOr<std::int64_t> rows();

 private:
  EmbeddingDatabase(SqliteConnection connection, std::int64_t max_bytes);

  absl::Status Prepare();
  absl::StatusOr<std::int64_t> VersionId(const std::string& version);
  absl::Status FindRows(const std::string& version, std::size_t dimension,
                        std::span<const content::ContentKey> keys, std::span<Embedding> found);
  absl::Status InsertRows(const std::string& version, std::size_t dimension,
                          std::span<const content::ContentKey> keys,
                          std::span<const std::uint16_t> values);
  absl::Status EvictOldest(std::int64_t max_rows);
  // COMMIT after OK, ROLLBACK after an error, which is returned.
  absl::Status End(const absl::Status& status);

  // Before its statements, which it outlives.
  SqliteConnection connection_;
  const std::int64_t max_bytes_;
  SqliteStatement find_version_;
  SqliteStatement insert_version_;
  SqliteStatement find_;
  SqliteStatement insert_;
};

}  // namespace shoal::embedding
