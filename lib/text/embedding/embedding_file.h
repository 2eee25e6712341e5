// SPDX-License-Identifier: Apache-2.0
// Embeddings on disk by (encoder version, content key): what was encoded once is there after a
// restart, and for every process of the machine.
//
// One SQLite file in WAL mode (its companions -wal and -shm beside it), which several objects and
// processes may share. Past `max_bytes` the rows that were written first leave; their pages are
// used again, so the file stays at about that size. It never shrinks: opened with a lower bound,
// rows leave over several insertions, and the pages stay. What was written is there after the
// process dies; the last rows may be lost when the machine does.
//
// It is a cache: after Open nothing fails. A disk that is full, a file that another process keeps
// locked, or one that went bad: what is asked is not found, what is given is not kept; that is
// counted, and warned of once a status code. After an insertion that failed, none is tried for a
// while that grows to 30 s (retry_wait.h): a lock that another process holds costs a quarter of a
// second then, not at each. A file of ours that is damaged or of an older format is moved aside
// with a warning that names where to (damaged_file.h), and a new one is begun; what is something
// else's is never touched.
//
// Processes agree on that by flock on "<path>.lock", which stays; each insertion looks whether the
// path still leads to the file that is open, and opens what is there now. Vectors of another
// version are not found. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "text/embedding/embedding.h"

namespace shoal::embedding {

struct EmbeddingFileOptions {
  std::string path;
  // Of the pages in use, without the companions; passed by one insertion at most once it is
  // reached. At least 64 KiB.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

class EmbeddingFile {
 public:
  // Makes missing folders. INVALID_ARGUMENT: options out of range. FAILED_PRECONDITION naming the
  // path and the reason: it cannot be made, opened or written; a damaged one cannot be moved aside;
  // it is neither empty nor a database of ours, by SQLite's header and its application_id; or its
  // format is a later one. `metrics` may be null; it and `clock` outlive this.
  static absl::StatusOr<std::unique_ptr<EmbeddingFile>> Open(
      const EmbeddingFileOptions& options, runtime::Metrics* metrics,
      const runtime::Clock& clock = runtime::SystemClock());
  ~EmbeddingFile();
  EmbeddingFile(const EmbeddingFile&) = delete;
  EmbeddingFile& operator=(const EmbeddingFile&) = delete;

  // One element a key, in their order: null where it is not there, or not of `dimension` numbers.
  std::vector<Embedding> Find(const std::string& version, std::size_t dimension,
                              std::span<const content::ContentKey> keys);
  // In one transaction. Keys that are there already stay as they are. REQUIRES: `values` is
  // [N, D], a row a key, and D at least 1.
  void Insert(const std::string& version, std::size_t dimension,
              std::span<const content::ContentKey> keys, std::span<const std::uint16_t> values);

  // Calls of Find and Insert that did not do all of it, those that were not tried among them.
  std::uint64_t failures() const;
  // Rows of all versions; 0 when it cannot be read.
  std::uint64_t rows();

 private:
  class State;
  explicit EmbeddingFile(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::embedding
