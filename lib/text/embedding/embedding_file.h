// SPDX-License-Identifier: Apache-2.0
// Vectors of texts by (encoder version, content key): what was encoded once is there after a
// restart, and for every process of the machine.
//
// It is one SQLite file in WAL mode (its companions -wal and -shm beside it), which several objects
// and processes may share. Past `max_bytes` the rows that were written first leave; their pages are
// used again, so the file stays at about that size. Vectors of another encoder version are not
// found. Thread-safe.
//
// It is a cache: after Open nothing fails. What cannot be read is not found, what cannot be written
// is not kept; both are counted. A file that is locked or a disk that is full may pass: the next
// insertions are tried after a pause. A file that is damaged, of another format or something
// else's is warned of once and left alone from then on; whoever wants a new one removes it. A
// vector carries a hash, so that damage never becomes a wrong vector.
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
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "text/embedding/embedding.h"
#include "text/embedding/optional_counter.h"

struct sqlite3;

namespace shoal::embedding {

struct EmbeddingFileOptions {
  std::string path;
  // Bytes of the pages in use, without the companions; one insertion may pass them. At least
  // 64 KiB.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

class EmbeddingFile {
 public:
  // Makes missing folders. INVALID_ARGUMENT: options out of range. FAILED_PRECONDITION naming the
  // path: no file can be there. `metrics` may be null; it and `clock` outlive this.
  static absl::StatusOr<std::unique_ptr<EmbeddingFile>> Open(
      const EmbeddingFileOptions& options, runtime::Metrics* metrics,
      const runtime::Clock& clock = runtime::SystemClock());

  // One element a key, in their order: null where it is not there, or not of `dimension` numbers.
  std::vector<Embedding> Find(const std::string& version, std::size_t dimension,
                              std::span<const content::ContentKey> keys)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // In one transaction. Keys that are there already stay as they are. REQUIRES: `values` is
  // [N, D], a row a key, and D at least 1.
  void Insert(const std::string& version, std::size_t dimension,
              std::span<const content::ContentKey> keys, std::span<const std::uint16_t> values)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls of Find and Insert that did not do all of it, those that were not tried among them.
  std::uint64_t failures() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Rows of all versions; 0 when it cannot be read.
  std::uint64_t rows() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  EmbeddingFile(const EmbeddingFileOptions& options, runtime::Metrics* metrics,
                const runtime::Clock& clock);
  // Does nothing when it is open.
  absl::Status Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountFailure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Fail(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const EmbeddingFileOptions options_;
  const runtime::Clock& clock_;
  const OptionalCounter found_total_;
  const OptionalCounter missing_total_;
  const OptionalCounter inserted_total_;
  const OptionalCounter failures_total_;

  mutable runtime::Mutex mutex_;
  // Null while it cannot be opened.
  std::unique_ptr<sqlite3, Close> connection_ ABSL_GUARDED_BY(mutex_);
  // It is never opened again.
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool warned_of_damage_ ABSL_GUARDED_BY(mutex_) = false;
  bool warned_of_pause_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::TimePoint pause_until_ ABSL_GUARDED_BY(mutex_) = runtime::TimePoint::min();
  std::uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::embedding
